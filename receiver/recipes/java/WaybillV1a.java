import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Verifies {@code v1a}, the signature for receivers that know public keys and no secret. Java 17 or later, nothing else.
 *
 * <pre>{@code
 * String problem = WaybillV1a.problem(KEYS, headers, body, Instant.now().getEpochSecond());
 * if (problem != null) return ResponseEntity.status(401).body(problem);
 * }</pre>
 *
 * It covers X-Service-Delivery, the time and the body, of POST alone. The event type, the webhook, the sequence and the test mark it
 * does not cover: where these need protection from more than TLS protects them from, verify {@code v3} too (Waybill.java).
 */
public final class WaybillV1a {
  /** How far the time of a signature may be off, in seconds. */
  public static final long TOLERANCE = 300;

  /** "whpk_" and the base64 of 32 bytes, which are not all zero: anybody can sign for such a key. */
  private static final Pattern PUBLIC_KEY = Pattern.compile("whpk_(?!A+=)[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=");
  /** What stands before the 32 bytes in a SubjectPublicKeyInfo (RFC 8410). */
  private static final byte[] SPKI = HexFormat.of().parseHex("302a300506032b6570032100");

  /** A mistake in your own setup, not in the request: answer 500, never 401. */
  public static final class BadKey extends IllegalArgumentException {
    BadKey(String message) {
      super(message);
    }
  }

  private WaybillV1a() {}

  /**
   * Checks that it is one or more whole public keys. Call it at the start, too.
   *
   * @throws BadKey if it is not
   */
  public static void checkPublicKeys(List<String> keys) {
    if (keys.isEmpty()) throw new BadKey("there is no public key");
    for (String key : keys) {
      if (key == null || !PUBLIC_KEY.matcher(key).matches()) {
        throw new BadKey("a public key is not set, cut off, or not the \"publicKey\" of GET /eshop/signing-keys");
      }
    }
  }

  /**
   * Why the request is not a delivery; null when the signature is good and not too old.
   *
   * @param keys each "publicKey" of GET /eshop/signing-keys ("whpk_..."): one, or two while one is being replaced
   * @param headers names in any case
   * @param body exactly as received
   * @param now Unix seconds
   * @throws BadKey as checkPublicKeys does
   */
  public static String problem(List<String> keys, Map<String, String> headers, byte[] body, long now) {
    checkPublicKeys(keys);
    Map<String, String> named = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    named.putAll(headers);
    String id = named.getOrDefault("webhook-id", "");
    String t = named.getOrDefault("webhook-timestamp", "");
    if (!id.equals(named.get("X-Service-Delivery"))) return "webhook-id is not X-Service-Delivery";
    if (!t.matches("[0-9]{1,12}")) return "webhook-timestamp is not in Unix seconds";
    if (body.length == 0) return "the body is empty: a GET is verified by v3 alone";

    byte[] content = joined((id + "." + t + ".").getBytes(StandardCharsets.UTF_8), body);
    boolean signed = false;
    for (String given : named.getOrDefault("webhook-signature", "").split(" ")) {
      for (String key : keys) signed |= given.startsWith("v1a,") && isSigned(key, given.substring(4), content);
    }
    if (!signed) {
      return "v1a of webhook-signature does not match: the public key, webhook-id, the time or the body differs";
    }

    return Math.abs(now - Long.parseLong(t)) > TOLERANCE ? "the signature is too old, or this clock is wrong" : null;
  }

  private static boolean isSigned(String key, String signature, byte[] content) {
    try {
      byte[] encoded = joined(SPKI, Base64.getDecoder().decode(key.substring(5)));
      PublicKey made = KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded));
      Signature verifier = Signature.getInstance("Ed25519");
      verifier.initVerify(made);
      verifier.update(content);
      return verifier.verify(Base64.getDecoder().decode(signature));
    } catch (GeneralSecurityException | IllegalArgumentException noSignature) {
      // Not base64, or not of 64 bytes.
      return false;
    }
  }

  private static byte[] joined(byte[] first, byte[] second) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(first);
    all.writeBytes(second);
    return all.toByteArray();
  }
}
