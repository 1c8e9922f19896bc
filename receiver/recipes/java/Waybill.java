import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Verifies the deliveries of a Waybill warehouse. Java 17 or later, nothing else.
 *
 * <pre>{@code
 * @PostMapping("/hooks") // Spring
 * ResponseEntity<String> hooks(@RequestHeader Map<String, String> headers, @RequestBody byte[] body) {
 *   String problem = Waybill.problem(List.of(secret), "POST", "", headers, body, Instant.now().getEpochSecond());
 *   if (problem != null) return ResponseEntity.status(401).body(problem);
 *   if (isNew(headers.get("x-service-delivery"))) // the same on every attempt
 *     handle(headers.get("x-service-event"), body);
 *   return ResponseEntity.noContent().build();
 * }
 * }</pre>
 *
 * Take the body as it came ({@code byte[]}), never one that was parsed and written again.
 */
public final class Waybill {
  /** How far the time of a signature may be off, in seconds. */
  public static final long TOLERANCE = 300;

  private Waybill() {}

  /**
   * Why the request is not a delivery; null when both signatures are good and not too old.
   *
   * @param secrets all of each secret ("whsec_..."): one, or the new and the old one while a secret is being replaced
   * @param target path and query exactly as requested; only GET needs it
   * @param headers names in any case
   * @param body exactly as received; empty on GET
   * @param now Unix seconds
   */
  public static String problem(
      List<String> secrets, String method, String target, Map<String, String> headers, byte[] body, long now) {
    Map<String, String> named = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    named.putAll(headers);
    String t = "";
    List<String> service = new ArrayList<>();
    for (String field : named.getOrDefault("X-Service-Signature", "").split(",")) {
      String[] pair = field.trim().split("=", 2);
      if (pair.length < 2) continue;
      if (pair[0].equals("t") && t.isEmpty()) t = pair[1];
      else if (pair[0].equals("v1")) service.add(pair[1]);
    }
    if (!t.matches("[0-9]{1,12}") || !t.equals(named.get("webhook-timestamp"))) {
      return "X-Service-Signature has no valid timestamp, or it differs from webhook-timestamp";
    }
    String id = named.getOrDefault("webhook-id", "");
    if (id.isEmpty() || !id.equals(named.get("X-Service-Delivery"))) {
      return "webhook-id is missing, or differs from X-Service-Delivery";
    }

    boolean get = method.equals("GET");
    byte[] content = get ? target.getBytes(StandardCharsets.UTF_8) : body;
    List<String> made = new ArrayList<>();
    for (String secret : secrets) {
      made.add(HexFormat.of().formatHex(hmac(secret.getBytes(StandardCharsets.UTF_8), t, content)));
    }
    if (!anyEqual(made, service)) {
      return "X-Service-Signature does not match: the secret, body, path or query differs";
    }

    List<String> standard = new ArrayList<>();
    for (String one : named.getOrDefault("webhook-signature", "").split(" ")) {
      if (one.startsWith("v1,")) standard.add(one.substring(3));
    }
    made.clear();
    for (String secret : secrets) {
      byte[] key = Base64.getDecoder().decode(secret.substring("whsec_".length()));
      byte[] signature = hmac(key, id + "." + t, get ? new byte[0] : body);
      made.add(Base64.getEncoder().encodeToString(signature));
    }
    if (!anyEqual(made, standard)) {
      return "webhook-signature does not match: the id differs";
    }

    return Math.abs(now - Long.parseLong(t)) > TOLERANCE
        ? "the signature is too old, or this clock is wrong"
        : null;
  }

  private static byte[] hmac(byte[] key, String prefix, byte[] content) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update((prefix + ".").getBytes(StandardCharsets.UTF_8));
      return mac.doFinal(content);
    } catch (GeneralSecurityException impossible) {
      // Every Java has HmacSHA256.
      throw new IllegalStateException(impossible);
    }
  }

  private static boolean anyEqual(List<String> made, List<String> given) {
    boolean equal = false;
    for (String one : made) {
      for (String other : given) {
        equal |= MessageDigest.isEqual(
            one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
      }
    }
    return equal;
  }
}
