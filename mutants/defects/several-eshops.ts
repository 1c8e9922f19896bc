/**
 * Defects of the operators' authentication, and of what keeps a user of the warehouse to the e-shops that it was given.
 */
import type { Defect } from '../defect.ts';

const authenticator = 'test/console/operator-authenticator.test.ts';
const warehouse = 'test/console/warehouse.test.ts';

export const severalEshopsDefects: readonly Defect[] = [
  {
    name: 'operator-link-again',
    file: 'src/console/operator/authenticator.tsx',
    text: '    unused = null;\n',
    replacement: '',
    noticed: 'Whoever finds the link in a terminal comes in after the operator.',
    caughtBy: [{ file: authenticator, tests: ['the link opens once'] }],
  },
  {
    name: 'operator-link-any',
    file: 'src/console/operator/authenticator.tsx',
    text: 'if (unused === null || !timingSafeEqual(unused, given)) {',
    replacement: 'if (unused === null || given.length !== unused.length) {',
    noticed: 'Any token signs in.',
    caughtBy: [
      {
        file: authenticator,
        tests: ['the link is the one that was printed: any other opens nothing, and does not use it up'],
      },
    ],
  },
  {
    name: 'operator-any-cookie',
    file: 'src/console/operator/authenticator.tsx',
    text: ' && timingSafeEqual(session, hashOf(id));',
    replacement: ' && id !== hashOf(id).toString();',
    noticed: 'Every cookie of the right name is an operator, once one has come in.',
    caughtBy: [
      { file: authenticator, tests: ['signing out ends it, and a cookie that was made up is none'] },
    ],
  },
  {
    name: 'operator-cookie-for-all',
    file: 'src/console/operator/authenticator.tsx',
    text: "httpOnly: true, sameSite: 'Strict'",
    replacement: "httpOnly: false, sameSite: 'Lax'",
    noticed: 'Scripts read the cookie of an operator, and links of other sites carry it.',
    caughtBy: [
      {
        file: authenticator,
        tests: [
          'the link is exchanged for a cookie that scripts and other sites cannot use, and leads to all e-shops',
        ],
      },
    ],
  },
  {
    name: 'operator-rebound',
    file: 'src/console/operator/authenticator.tsx',
    text: "  if (!LOCAL.has(hostOf(c.req.header('host'))))\n    throw forbidden('Open this console at 127.0.0.1 or localhost, with the link that the command printed.');\n",
    replacement: '',
    noticed:
      'A name of somebody else that is made to lead to 127.0.0.1 makes its pages those of the console.',
    caughtBy: [
      {
        file: authenticator,
        tests: ['by another name of this machine, made to lead here, nothing is answered: evil.example'],
      },
    ],
  },
  {
    name: 'operator-same-site',
    file: 'src/console/operator/authenticator.tsx',
    text: "site === 'same-origin' || site === 'none';",
    replacement: "site !== 'cross-site';",
    noticed: 'Pages of another port of this machine read along.',
    caughtBy: [{ file: authenticator, tests: ['pages of others read nothing and send nothing: same-site'] }],
  },
  {
    name: 'operator-cross-site',
    file: 'src/console/operator/authenticator.tsx',
    text: "  const ours = site === undefined || site === 'same-origin' || site === 'none';",
    replacement: "  const ours = site === undefined || site !== 'same-site';",
    noticed: 'Pages of other sites ask for those of the console.',
    caughtBy: [{ file: authenticator, tests: ['pages of others read nothing and send nothing: cross-site'] }],
  },
  {
    name: 'operator-forms',
    file: 'src/console/forms.ts',
    text: "if (id === undefined || !isCsrfToken(id, form.csrf ?? '')) throw forbidden(REFUSED);",
    replacement: 'if (id === undefined) throw forbidden(REFUSED);',
    noticed: 'A form without the token pauses a recovery.',
    caughtBy: [
      {
        file: authenticator,
        tests: ['pages of others a form without the token of this session is refused, with it it is taken'],
      },
    ],
  },
  {
    name: 'warehouse-any-eshop',
    file: 'src/db/console/sessions.ts',
    text: 'and x.id in (select g.eshop_id from user_eshops g where g.user_id = u.id)',
    replacement: 'and x.id in (select g.eshop_id from user_eshops g) or x.id is not null',
    noticed: 'A user of the warehouse sees e-shops that nobody gave it.',
    caughtBy: [{ file: warehouse, tests: ['others do not exist, whether they are there or not'] }],
  },
  {
    name: 'warehouse-shop-sees-several',
    file: 'src/db/console/sessions.ts',
    text: "(u.role = 'warehouse' and x.disabled_at is null",
    replacement: '(x.disabled_at is null',
    noticed: 'A user of an e-shop sees others.',
    caughtBy: [
      {
        file: warehouse,
        tests: [
          'others a user of an e-shop sees that one alone, has no pages of all, and no link into Temporal',
        ],
      },
    ],
  },
  {
    name: 'warehouse-links-for-all',
    file: 'src/console/console.tsx',
    text: "temporal: user.role === 'warehouse' ? temporal : null,",
    replacement: 'temporal,',
    noticed: 'An e-shop is led into Temporal, where all the others are.',
    caughtBy: [
      {
        file: warehouse,
        tests: [
          'others a user of an e-shop sees that one alone, has no pages of all, and no link into Temporal',
        ],
      },
    ],
  },
  {
    name: 'warehouse-steers-others',
    file: 'src/console/all/routes.tsx',
    text: 'owner !== null && (scope === undefined || scope.includes(owner));',
    replacement: 'owner !== null && scope !== null;',
    noticed: 'The warehouse of one e-shop holds the deliveries of another.',
    caughtBy: [
      { file: warehouse, tests: ['others are in no list of all, and nothing is asked of their deliveries'] },
    ],
  },
  {
    name: 'warehouse-lists-others',
    file: 'src/db/webhooks/deliveries-of-eshops.ts',
    text: 'among === undefined ? sql`` : sql`and e.id = any(',
    replacement: 'among !== null ? sql`` : sql`and e.id = any(',
    noticed: 'The list of all deliveries shows those of other e-shops.',
    caughtBy: [
      { file: warehouse, tests: ['others are in no list of all, and nothing is asked of their deliveries'] },
    ],
  },
  {
    name: 'warehouse-form-of-another',
    file: 'src/console/forms.ts',
    text: 'if (aboutOne && eshopOfToken',
    replacement: 'if (viewer === undefined && aboutOne && eshopOfToken',
    noticed: 'A webhook is created for the e-shop that was chosen in another tab.',
    caughtBy: [
      {
        file: warehouse,
        tests: [
          'one e-shop of several a form of one changes nothing in another that was turned to meanwhile',
        ],
      },
    ],
  },
  {
    name: 'warehouse-live-of-another',
    file: 'src/console/eshops.ts',
    text: 'among(eshops, followed) ?? ',
    replacement: '',
    noticed: 'A page that asks again by itself shows the e-shop that was chosen in another tab.',
    caughtBy: [
      {
        file: warehouse,
        tests: ['one e-shop of several a page that asks again by itself goes on being about its own'],
      },
    ],
  },
];
