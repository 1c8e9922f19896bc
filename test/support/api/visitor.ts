/** A browser, as far as cookies are concerned. */

/** A server of requests. */
interface Site {
  fetch(request: Request): Response | Promise<Response>;
}

/** @param origin of the site's URLs */
export function visitorOf(site: Site, origin = 'http://localhost', cookies = new Map<string, string>()) {
  async function ask(path: string, form?: Record<string, string>, headers: Record<string, string> = {}) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await site.fetch(
      new Request(`${origin}${path}`, {
        headers: {
          host: new URL(origin).host,
          ...(cookie === '' ? {} : { cookie }),
          ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
          ...headers,
        },
        ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form).toString() }),
      }),
    );
    const set = response.headers.getSetCookie();
    for (const line of set) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await response.text();
    const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    return { status: response.status, headers: response.headers, text, csrf, set };
  }
  return { cookies, ask };
}
