/** The variables passed on to child processes: never `SECRET_KEY`, `SMTP_URL` or those of other programs. */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TZDIR|TMPDIR|TMP|TEMP|XDG_\w+|SYSTEMROOT|USERPROFILE|(LOCAL)?APPDATA|LD_\w+|DYLD_\w+|FAKETIME\w*|GO\w+|SSL_CERT_\w+|(HTTPS?|ALL|NO)_PROXY|PIP_\w+|PYTHON\w+|REQUESTS_CA_BUNDLE)$/i;

/** The paths of programs and folders, language and time zone; settings of Go, the linker, pip and proxies. */
export function childEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => PASSED_ON.test(name)));
}
