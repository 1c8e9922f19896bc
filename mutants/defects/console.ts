/** Defects of the console: what keeps out whoever has no business there, and what others wrote. */
import type { Defect } from '../defect.ts';

const security = 'test/console/security.test.ts';
const stored = 'test/console/stored.test.ts';

export const consoleDefects: readonly Defect[] = [
  {
    name: 'console-form-without-token',
    file: 'src/console/forms.ts',
    text: "if (id === undefined || !isCsrfToken(id, form.csrf ?? '')) throw forbidden(REFUSED);",
    replacement: 'if (id === undefined) throw forbidden(REFUSED);',
    noticed: 'Another site changes webhooks with the session of whoever visits it.',
    caughtBy: [
      {
        file: security,
        tests: [
          'forms without the token of the session, with that of another, or from another site nothing is done',
          'forms nobody is signed in by a form of another browser',
        ],
      },
    ],
  },
  {
    name: 'console-form-of-another-site',
    file: 'src/console/forms.ts',
    text: "if (site !== undefined && site !== 'same-origin' && site !== 'none') throw forbidden(REFUSED);",
    replacement: '',
    noticed: 'A form that the browser says is from another site is taken for one of ours.',
    caughtBy: [
      {
        file: security,
        tests: [
          'forms without the token of the session, with that of another, or from another site nothing is done',
        ],
      },
    ],
  },
  {
    name: 'console-token-of-any-session',
    file: 'src/console/session.ts',
    text: "createHmac('sha256', id)",
    replacement: "createHmac('sha256', 'waybill')",
    noticed: 'The token of one session is good for the forms of every other.',
    caughtBy: [
      {
        file: security,
        tests: [
          'forms without the token of the session, with that of another, or from another site nothing is done',
        ],
      },
    ],
  },
  {
    name: 'console-unescaped',
    file: 'src/console/parts.tsx',
    text: '<code>{text}</code>',
    replacement: '<code dangerouslySetInnerHTML={{ __html: text }} />',
    noticed: 'What a receiver answers becomes part of the page.',
    caughtBy: [
      {
        file: stored,
        tests: ['no text of others is part of a page, when it is loaded and when it is exchanged'],
      },
    ],
  },
  {
    name: 'console-policy-weakened',
    file: 'src/theme/secured.ts',
    text: 'scriptSrc: ["\'self\'"]',
    replacement: 'scriptSrc: ["\'self\'", "\'unsafe-inline\'"]',
    noticed: 'What slips into a page is run.',
    caughtBy: [
      {
        file: security,
        tests: [
          'every page carries a complete content security policy, is never cached, and runs nothing of its own text',
        ],
      },
      {
        file: stored,
        tests: ['a page that runs or loads what is not its own is stopped by its policy'],
      },
    ],
  },
  {
    name: 'console-cookie-for-scripts',
    file: 'src/console/session.ts',
    text: 'httpOnly: true',
    replacement: 'httpOnly: false',
    noticed: 'A script can read the session and carry it away.',
    caughtBy: [
      {
        file: security,
        tests: [
          'signing in the cookie is of no use to scripts, other sites and other paths; over TLS it never leaves without',
        ],
      },
    ],
  },
  {
    name: 'console-cookie-without-tls',
    file: 'src/console/session.ts',
    text: "  if (publicUrl?.startsWith('https:') === true) return true;\n",
    replacement: '',
    noticed: 'Behind a proxy with TLS, the session is sent over plain HTTP, too.',
    caughtBy: [
      {
        file: security,
        tests: [
          'signing in the cookie is of no use to scripts, other sites and other paths; over TLS it never leaves without',
        ],
      },
    ],
  },
  {
    name: 'console-session-fixed',
    file: 'src/console/session.ts',
    text: `      const id = newId();
      setCookie(c, SESSION, id,`,
    replacement: `      const id = getCookie(c, SESSION) ?? newId();
      setCookie(c, SESSION, id,`,
    noticed: 'Whoever plants a cookie is signed in as soon as its victim is.',
    caughtBy: [
      {
        file: security,
        tests: ['signing in a session that was planted beforehand is not the one that begins'],
      },
    ],
  },
  {
    name: 'console-session-for-ever',
    file: 'src/db/console/sessions.ts',
    text: ' and s.expires_at > now()',
    replacement: '',
    noticed: 'A session that was left open somewhere never ends.',
    caughtBy: [{ file: security, tests: ['a session ends after its hours'] }],
  },
  {
    name: 'console-session-outlives-password',
    file: 'src/db/console/sessions.ts',
    text: ' and u.password_version = s.password_version',
    replacement: '',
    noticed: 'Who knew the old password stays signed in.',
    caughtBy: [
      {
        file: security,
        tests: ['a session ends with the password, the user, and while the e-shop is disabled'],
      },
    ],
  },
  {
    name: 'console-leads-elsewhere',
    file: 'src/console/sign-in.tsx',
    text: 'return next !== undefined && /^\\/console([/?][^\\\\\\p{Cc}]*)?$/u.test(next) ? next : CONSOLE;',
    replacement: 'return next ?? CONSOLE;',
    noticed: 'A link to our sign-in leads to a page of somebody else after signing in.',
    caughtBy: [{ file: security, tests: ['signing in leads nowhere else: https://evil.example/'] }],
  },
  {
    name: 'console-steers-others',
    file: 'src/console/deliveries/routes.tsx',
    text: `    // First of all whether it is this e-shop's: what is asked of the workflow asks nobody.
    await c.var.api.get(One, \`/v21/deliveries/\${piece(id)}\`);
`,
    replacement: '',
    noticed: 'An e-shop gives up the deliveries of another.',
    caughtBy: [{ file: security, tests: ['what belongs to another e-shop does not exist'] }],
  },
  {
    name: 'console-records-of-others',
    file: 'src/db/console/records.ts',
    text: `from \${table} t where t.eshop_id = \${eshopId} \${behind}`,
    replacement: `from \${table} t where t.eshop_id is not null and \${eshopId}::int is not null \${behind}`,
    noticed: 'An e-shop sees the orders of every other.',
    caughtBy: [{ file: security, tests: ['what belongs to another e-shop does not exist'] }],
  },
  {
    name: 'console-counts-of-others',
    file: 'src/db/console/delivery-counts.ts',
    text: `where eshop_id = \${eshopId} and deleted_at is null order by id`,
    replacement: `where \${eshopId}::int is not null and deleted_at is null order by id`,
    noticed: 'The chart of an e-shop counts the deliveries of all.',
    caughtBy: [
      {
        file: 'test/db/console-counts.test.ts',
        tests: [
          'deliveries are counted by minute and by what became of them: of this e-shop, and of the time asked for',
        ],
      },
    ],
  },
  {
    name: 'console-stream-goes-on',
    file: 'src/console/live.ts',
    text: "if (response.status === 401) return await stream.writeSSE({ event: 'over', data: '' });",
    replacement: '',
    noticed: 'A page stays open after its session has ended, and shows what it showed last.',
    caughtBy: [
      { file: security, tests: ['a page that is followed is sent as it is, and ends with its session'] },
    ],
  },
  {
    name: 'console-held-by-e-shops',
    file: 'src/console/deliveries/steering.ts',
    text: "return role === 'warehouse' ? steeringActions : ['tryNow', 'giveUp'];",
    replacement: 'return steeringActions;',
    noticed: 'An e-shop resumes what the warehouse holds.',
    caughtBy: [
      {
        file: security,
        tests: ['an e-shop has a delivery tried at once or gives it up; holding it is for the warehouse'],
      },
    ],
  },
];
