import { describe, expect, it } from 'vitest';
import { uncheckedTls } from '../../src/app/outgoing.ts';
import { loadConfig, readSettings } from '../../src/config/config.ts';
import { variables } from '../../src/config/variables.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import { UserError } from '../../src/lib/user-error.ts';

const SECRET_KEY = Buffer.alloc(32, 1).toString('base64');
const DATABASE_URL = 'postgres://waybill:hidden@db.example:5432/waybill';

function complaint(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  throw new Error('accepted');
}

describe('without any variable', () => {
  const config = loadConfig({});

  it('everything runs in this process, and receivers on this machine are allowed', () => {
    expect(config.unconfigured).toBe(true);
    expect(config.deliveryAllowCidrs).toEqual(['127.0.0.0/8', '::1/128']);
    expect(config.settings).toMatchObject({
      ROLE: 'all',
      PORT: 8080,
      HOST: '127.0.0.1',
      DATA_DIR: '.waybill',
    });
  });

  it("the retry policy is the domain's default", () => {
    expect(config.retryPolicy).toEqual(defaultRetryPolicy);
  });
});

describe('values', () => {
  it.each([
    ['15s', 15_000],
    ['250ms', 250],
    ['30m', 1_800_000],
    ['48h', 172_800_000],
    ['1.5s', 1_500],
  ])('the duration %s is %d ms', (text, ms) => {
    expect(loadConfig({ RETRY_INITIAL_INTERVAL: text }).retryPolicy.initialIntervalMs).toBe(ms);
  });

  it('an empty list clears the default, even if nothing else is configured', () => {
    const empty = {
      DELIVERY_ALLOW_CIDRS: '',
      DNS_SERVERS: '',
      EGRESS_ADDRESSES: '',
      SECRET_KEY_PREVIOUS: '',
    };
    expect(loadConfig(empty)).toEqual({ ...loadConfig({}), deliveryAllowCidrs: [] });
  });

  it('other variables must not be empty or blank; empty ones of OpenTelemetry count as unset', () => {
    const lists = ['DELIVERY_ALLOW_CIDRS', 'DNS_SERVERS', 'EGRESS_ADDRESSES', 'SECRET_KEY_PREVIOUS'];
    const names = Object.keys(variables.entries);
    expect(names).toEqual(expect.arrayContaining([...lists, 'DATABASE_URL', 'PORT', 'OTEL_SERVICE_NAME']));
    for (const name of names.filter((each) => !lists.includes(each))) {
      for (const value of ['', ' \t'])
        if (name.startsWith('OTEL_')) expect(loadConfig({ [name]: value })).toEqual(loadConfig({}));
        else
          expect(complaint({ [name]: value })).toBe(
            `${name} must not be empty: leave it out for its default.`,
          );
    }
  });

  it('address ranges are split at commas', () => {
    expect(loadConfig({ DELIVERY_ALLOW_CIDRS: '10.0.0.0/8, fd00::/8' }).deliveryAllowCidrs).toEqual([
      '10.0.0.0/8',
      'fd00::/8',
    ]);
  });

  it('name servers are addresses, with or without a port', () => {
    const DNS_SERVERS = '192.0.2.53, 192.0.2.54:5353, 2001:db8::53, [2001:db8::54]:5353';
    expect(readSettings({ DNS_SERVERS }).DNS_SERVERS).toEqual(DNS_SERVERS.split(', '));
    expect(readSettings({}).DNS_SERVERS).toEqual([]);
  });

  it('the public address loses trailing slashes, since paths are appended', () => {
    expect(readSettings({ PUBLIC_URL: 'https://waybill.example/base//' }).PUBLIC_URL).toBe(
      'https://waybill.example/base',
    );
    expect(readSettings({}).PUBLIC_URL).toBeUndefined();
  });

  it('the public address is normalized as in a browser', () => {
    expect(readSettings({ PUBLIC_URL: ' HTTPS://Waybill.Example:443/a/../Base ' }).PUBLIC_URL).toBe(
      'https://waybill.example/Base',
    );
  });

  it.each(['orders@shop.example', 'Shop & Co. <orders@shop.example>', '<waybill@localhost>'])(
    'mails may come from %s',
    (MAIL_FROM) => {
      expect(readSettings({ MAIL_FROM }).MAIL_FROM).toBe(MAIL_FROM);
    },
  );

  it('the key is 32 decoded bytes', () => {
    expect(readSettings({ SECRET_KEY }).SECRET_KEY).toEqual(Buffer.alloc(32, 1));
  });

  it('a configured instance exempts no private range by itself', () => {
    expect(loadConfig({ DATABASE_URL, SECRET_KEY }).deliveryAllowCidrs).toEqual([]);
  });
});

describe('a wrong value is reported in one sentence that begins with its variable', () => {
  const wrong: [string, string][] = [
    ['ROLE', 'boss'],
    ['PORT', '70000'],
    ['PORT', 'http'],
    ['DATABASE_URL', 'mysql://db'],
    ['TEMPORAL_ADDRESS', 'https://temporal.example'],
    ['TEMPORAL_TLS', 'yes'],
    ['SMTP_URL', 'mail.example'],
    ['MAIL_FROM', 'not an address'],
    ['MAIL_FROM', 'Shop <orders>'],
    ['MAIL_FROM', 'a@shop.example, b@shop.example'],
    ['SECRET_KEY', 'short'],
    ['DELIVERY_TIMEOUT', '15'],
    ['DELIVERY_TIMEOUT', '0s'],
    ['PUBLIC_URL', 'waybill.example'],
    ['PUBLIC_URL', 'https://waybill.example/?a=1'],
    ['PUBLIC_URL', 'https://waybill.example/?'],
    ['PUBLIC_URL', 'https://waybill.example/#docs'],
    ['PUBLIC_URL', 'https://shop:hidden@waybill.example/'],
    ['RETRY_INITIAL_INTERVAL', '-1s'],
    ['RETRY_COEFFICIENT', '0.5'],
    ['RETRY_MAX', '2.5'],
    ['RETRY_MAX', '-1'],
    ['RETRY_WINDOW', '2 days'],
    ['RETRY_WINDOW', '9999h'],
    ['DELIVERY_ALLOW_CIDRS', '10.0.0.0/33'],
    ['DELIVERY_ALLOW_CIDRS', 'localhost'],
    ['DNS_SERVERS', 'dns.example'],
    ['EGRESS_ADDRESSES', '203.0.113.7'],
    ['WEBHOOK_HTTPS_ONLY', 'yes'],
    ['OUTBOUND_PROXY', 'socks5://proxy.example'],
    ['OUTBOUND_PROXY', 'proxy.example:3128'],
    ['OUTBOUND_PROXY', 'http://proxy.example:3128/path'],
    ['OUTBOUND_PROXY', 'http://waybill:100%@proxy.example'],
    ['DNS_SERVERS', '192.0.2.53:70000'],
    ['DNS_SERVERS', '192.0.2.53,[2001:db8::53'],
    ['LOGIN_LIMIT_PER_ADDRESS', '0'],
    ['TRUST_PROXY', '1'],
    ['LOG_LEVEL', 'loud'],
  ];
  it.each(wrong)('%s=%s', (name, value) => {
    const message = complaint({ [name]: value });
    expect(message).toMatch(new RegExp(`^${name} must .+\\.$`));
    expect(message).not.toContain('\n');
  });

  it.each([
    ['postgres://h1,h2/waybill', 'must name one host'],
    ['postgres://u:p@h1:5432,h2:5433/waybill', 'must name one host'],
    ['postgres://h/waybill?ssl_mode=require', 'must not have the parameter ssl_mode; use sslmode'],
    ['postgres://h/waybill?sslmode=required', 'must have one of disable, allow, prefer,'],
    ['postgres://h/waybill?pgbouncer=true', 'must not have the parameter pgbouncer; a pooler is detected'],
    ['postgres://h/waybill?target_session_attrs=standby', 'must have one of any, read-write, primary'],
  ])('an ambiguous or misspelled database URL: %s', (url, message) => {
    for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL'])
      expect(() => loadConfig({ DATABASE_URL, SECRET_KEY, [name]: url })).toThrow(`${name} ${message}`);
  });

  it('meaningful parameters of libpq are accepted', () => {
    const url = `${DATABASE_URL}?sslmode=verify-full&sslnegotiation=direct&application_name=x&target_session_attrs=read-write`;
    expect(loadConfig({ DATABASE_URL: url, SECRET_KEY }).settings.DATABASE_URL).toBe(url);
  });

  it.each(['SECRET_KEY', 'DATABASE_URL', 'SMTP_URL', 'OUTBOUND_PROXY'])(
    '%s is not repeated in the message',
    (name) => {
      expect(complaint({ [name]: 'very-confidential' })).not.toContain('very-confidential');
    },
  );
});

describe('contradictory values', () => {
  it.each<[string, Record<string, string>]>([
    ['SECRET_KEY', { DATABASE_URL }],
    ['DATABASE_URL', { ROLE: 'api' }],
    ['TEMPORAL_ADDRESS', { ROLE: 'worker', DATABASE_URL, SECRET_KEY }],
    ['TEMPORAL_TLS_CERT_FILE', { TEMPORAL_TLS_CERT_FILE: 'client.pem' }],
    ['DELIVERY_TIMEOUT', { DELIVERY_TIMEOUT: '1h', RETRY_WINDOW: '1m' }],
  ])('are reported with %s for %j', (name, env) => {
    expect(complaint(env)).toMatch(new RegExp(`^${name} `));
  });
});

it('a start with NODE_TLS_REJECT_UNAUTHORIZED=0 is warned about', () => {
  expect(uncheckedTls({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toContain('no certificate is checked');
  expect(uncheckedTls({ NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toBeNull();
  expect(uncheckedTls({})).toBeNull();
});
