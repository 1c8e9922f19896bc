import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Verifies the deliveries of a Waybill warehouse. Java 17 or later, nothing else.
 *
 * <pre>{@code
 * @PostMapping("/hooks") // Spring
 * ResponseEntity<String> hooks(@RequestHeader Map<String, String> headers, @RequestBody byte[] body, HttpServletRequest request) {
 *   String query = request.getQueryString();
 *   String target = request.getRequestURI() + (query == null ? "" : "?" + query);
 *   List<String> secrets = SECRETS.getOrDefault(headers.get("x-service-webhook"), List.of()); // each webhook has its own
 *   String problem = Waybill.problem(secrets, "POST", target, headers, body, Instant.now().getEpochSecond());
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

  /** What is signed beside the time, method, path, query and body; X-Service-Test is absent where it is no test. */
  private static final Map<String, List<String>> SIGNED = Map.of(
      "v3", List.of("Delivery", "Event-Id", "Event", "Sequence", "Webhook", "Origin", "Changed", "Test"),
      "v2", List.of("Delivery", "Event-Id", "Event", "Sequence", "Webhook", "Test"));

  /** A whole secret: generated ("whsec_...", its length is 4n + 2) or your own; which is no quoted text, API key or placeholder. */
  private static final Pattern GENERATED = Pattern.compile("whsec_[A-Za-z0-9+/]{32,86}={0,2}");
  private static final Pattern OWN = Pattern.compile("[!-~][ -~]{22,254}[!-~]");
  private static final Pattern NOT_OWN =
      Pattern.compile(
          "^[\"'`]|^wb_[A-Za-z0-9_-]{43}$|[$#%]\\{[^{}]*\\}|\\$\\([^()]*\\)|\\{\\{.*\\}\\}|^<.*>$|^%.*%$|^\\[.*\\]$|^\\$[A-Za-z_][A-Za-z0-9_]*$");

  /** A mistake in your own setup, not in the request: answer 500, never 401. */
  public static final class BadSecret extends IllegalArgumentException {
    BadSecret(String message) {
      super(message);
    }
  }

  private Waybill() {}

  /**
   * Checks that each is a whole secret. Call it at the start, too: anybody can sign with an empty one.
   *
   * @throws BadSecret for the first that is not
   */
  public static void checkSecrets(List<String> secrets) {
    for (String secret : secrets) {
      if (secret == null || !isWhole(secret)) {
        throw new BadSecret("a secret is not set, cut off, in quotes or spaces, or a placeholder");
      }
    }
  }

  private static boolean isWhole(String secret) {
    return secret.startsWith("whsec_")
        ? GENERATED.matcher(secret).matches() && secret.length() % 4 == 2
        : OWN.matcher(secret).matches() && !NOT_OWN.matcher(secret).find();
  }

  /**
   * Why the request is not a delivery; null when the signature is good and not too old.
   *
   * @param secrets those of the webhook that X-Service-Webhook names, all of each ("whsec_..."): one, or the new and the old one while a secret is being replaced
   * @param target path and query exactly as requested
   * @param headers names in any case
   * @param body exactly as received; empty on GET
   * @param now Unix seconds
   * @throws BadSecret as checkSecrets does; it is not caught above, so that it becomes a 500
   */
  public static String problem(
      List<String> secrets, String method, String target, Map<String, String> headers, byte[] body, long now) {
    checkSecrets(secrets);
    Map<String, String> named = named(headers);
    Map<String, List<String>> fields = fields(named);
    String t = fields.getOrDefault("t", List.of("")).get(0);
    if (!t.matches("[0-9]{1,12}")) {
      return "X-Service-Signature has no valid timestamp";
    }

    List<String> lines = new ArrayList<>(List.of(t));
    String version = fields.containsKey("v3") ? "v3" : "v2";
    for (String name : SIGNED.get(version)) lines.add(named.getOrDefault("X-Service-" + name, ""));
    lines.addAll(List.of(method, target, ""));
    List<String> made = new ArrayList<>();
    for (String secret : secrets) made.add(hmac(secret, String.join("\n", lines), body));
    if (!anyEqual(made, fields.getOrDefault(version, List.of()))) {
      return version + " of X-Service-Signature does not match: the secret, a header, path, query or body differs";
    }

    return Math.abs(now - Long.parseLong(t)) > TOLERANCE
        ? "the signature is too old, or this clock is wrong"
        : null;
  }

  /** Who made a change ("shop", "warehouse" or "service"), and the fields that it changed. */
  public record Written(String origin, List<String> changed) {}

  /**
   * Of a verified request; (null, no fields) where there is no v3, of an older sender: v2 does not cover these headers, and anybody
   * may have set them.
   *
   * @param headers names in any case
   */
  public static Written written(Map<String, String> headers) {
    Map<String, String> named = named(headers);
    if (!fields(named).containsKey("v3")) return new Written(null, List.of());
    String changed = named.getOrDefault("X-Service-Changed", "");
    return new Written(named.get("X-Service-Origin"), changed.isEmpty() ? List.of() : List.of(changed.split(",")));
  }

  private static Map<String, String> named(Map<String, String> headers) {
    Map<String, String> named = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    named.putAll(headers);
    return named;
  }

  /** The values in X-Service-Signature, by name. */
  private static Map<String, List<String>> fields(Map<String, String> named) {
    Map<String, List<String>> fields = new HashMap<>();
    for (String field : named.getOrDefault("X-Service-Signature", "").split(",")) {
      String[] pair = field.trim().split("=", 2);
      fields.computeIfAbsent(pair[0], name -> new ArrayList<>()).add(pair.length < 2 ? "" : pair[1]);
    }
    return fields;
  }

  private static String hmac(String secret, String lines, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      mac.update(lines.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(mac.doFinal(body));
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
