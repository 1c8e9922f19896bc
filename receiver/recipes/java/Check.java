import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads requests from the standard input, one a line, and says of each whether the recipe verifies it (README.md). */
public final class Check {
  public static void main(String[] arguments) throws Exception {
    boolean v1a = arguments.length > 0 && arguments[0].equals("v1a");
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] encoded = line.split(" ", -1);
      byte[][] fields = new byte[6][];
      for (int i = 0; i < 6; i += 1) fields[i] = Base64.getDecoder().decode(encoded[i]);
      Map<String, String> headers = new HashMap<>();
      for (String header : text(fields[4]).split("\n")) {
        String[] pair = header.split(": ", 2);
        headers.put(pair[0], pair[1]);
      }
      List<String> known = List.of(text(fields[0]).split(",", -1));
      long now = Long.parseLong(text(fields[1]));
      try {
        String problem =
            v1a
                ? WaybillV1a.problem(known, headers, fields[5], now)
                : Waybill.problem(known, text(fields[2]), text(fields[3]), headers, fields[5], now);
        String right = v1a ? "true" : accepted(Waybill.written(headers));
        System.out.println(problem == null ? right : "false");
      } catch (Waybill.BadSecret | WaybillV1a.BadKey bad) {
        System.out.println("setup");
      }
    }
  }

  private static String accepted(Waybill.Written written) {
    String origin = written.origin() == null ? "" : written.origin();
    return ("true " + origin + " " + String.join(" ", written.changed())).strip();
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
