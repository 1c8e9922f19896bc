/** Incidents of webhooks, and the warnings before a deactivation. */
import type { Defect } from '../defect.ts';

const LEDGER = 'src/db/incidents/failures.ts';
const DECIDE = 'src/db/incidents/decide.ts';
const WARNINGS = 'src/db/incidents/warnings.ts';
const incidents = (...tests: string[]) => [{ file: 'test/db/incidents.test.ts', tests }];
const warnings = (...tests: string[]) => [{ file: 'test/db/warnings.test.ts', tests }];
const templates = (...tests: string[]) => [{ file: 'test/mail/mail-template.test.ts', tests }];

export const incidentDefects: readonly Defect[] = [
  {
    name: 'incident-success-always-written',
    file: LEDGER,
    text: '      where (\n        select max(until) filter',
    replacement: '      where true or (\n        select max(until) filter',
    noticed: 'Every accepted delivery writes a row more.',
    caughtBy: incidents(
      'a delivery that is accepted without an incident adds nothing, and after one only the first does',
    ),
  },
  {
    name: 'incident-never-ends',
    file: LEDGER,
    text: 'group by 1, 2) c\n      where (',
    replacement: 'group by 1, 2) c\n      where false and (',
    noticed: 'A webhook that works again says that it fails, and its e-shop is warned.',
    caughtBy: incidents('an accepted delivery ends it, whichever; the next failure begins another one'),
  },
  {
    name: 'incident-of-an-earlier-url',
    file: LEDGER,
    text: 'f.generation = w.generation and w.active and w.deleted_at is null and f.failures > 0',
    replacement: 'f.failures > 0',
    noticed: 'A webhook with another URL still says what the earlier one failed at.',
    caughtBy: incidents('an activation and another URL end it; what failed before counts no more'),
  },
  {
    name: 'incident-of-what-was-before-a-success',
    file: LEDGER,
    text: ' and a.generation = c.generation and a.at > c.at)',
    replacement: ' and a.generation = c.generation and a.at > c.at and false)',
    noticed: 'A batch whose last delivery was accepted counts what failed before it.',
    caughtBy: incidents(
      'results recorded together: what failed before the accepted one is over, what failed behind it is not',
    ),
  },
  {
    name: 'deactivation-told-by-the-young',
    file: 'src/domain/incident.ts',
    text: 'new Date(Math.min(...times))',
    replacement: 'new Date(Math.max(...times))',
    noticed: 'A webhook is deactivated a day before the time that its record names.',
    caughtBy: incidents('the deactivation is told by the delivery that has the fewest waits left'),
  },
  {
    name: 'warning-repeated',
    file: DECIDE,
    text: '  not exists (\n    select from warnings x',
    replacement: '  true or not exists (\n    select from warnings x',
    noticed: 'A mail every five seconds.',
    caughtBy: warnings('one warning, however many deliveries fail, and however long'),
  },
  {
    name: 'warning-of-what-is-over',
    file: DECIDE,
    text: 'if (terms !== null) await endForgotten(tx, terms);\n',
    replacement: '',
    noticed: 'An e-shop is warned of a single failure that a success followed at once.',
    caughtBy: warnings('a failure that was recorded at the same moment as a later success is no incident'),
  },
  {
    name: 'warning-of-what-fails-alone-missing',
    file: DECIDE,
    text: 'f.generation = w.generation and f.last_call is not null',
    replacement: 'f.generation = w.generation and f.last_call is not null and i.since is not null',
    noticed: 'One order that a receiver cannot take deactivates the webhook without a warning.',
    caughtBy: warnings('a delivery that fails alone is warned of although others are accepted, and once'),
  },
  {
    name: 'warning-of-who-wants-none',
    file: DECIDE,
    text: 'and s.warning_mails $',
    replacement: '$',
    noticed: 'An e-shop that turned warnings off gets them.',
    caughtBy: warnings('nobody is warned who does not want it, or whose webhook is inactive'),
  },
  {
    name: 'ledger-forgets-successes',
    file: DECIDE,
    text: 'const SUCCESS_KEPT_S = 60;',
    replacement: 'const SUCCESS_KEPT_S = 0;',
    noticed: 'A failure that is recorded late makes an incident of a webhook that works.',
    caughtBy: warnings('a success of this minute is kept: what failed before may be recorded after it'),
  },
  {
    name: 'warning-sent-by-nobody',
    file: WARNINGS,
    text: "set check_at = now() + least(greatest(now() - x.at, interval '1 minute'), interval '1 hour')",
    replacement: "set check_at = 'infinity'",
    noticed: 'A warning whose workflow was terminated is never mailed.',
    caughtBy: warnings(
      'is claimed by one at a time, again after a minute, at once when it was given back, and no more when it is mailed',
    ),
  },
  {
    name: 'warning-sent-although-over',
    file: 'activities/mail-warning.ts',
    text: 'notice.warranted ? warningOf(notice, deps.policy) : null',
    replacement: 'warningOf({ ...notice, incidentSince: new Date(), incidentFailures: 1 }, deps.policy)',
    noticed: 'A mail server that was away for a day brings warnings of webhooks that work again.',
    caughtBy: [
      {
        file: 'test/mail/mail-warning.test.ts',
        tests: [
          'a delivery was accepted before the mail server was back: dropped, and nobody is mailed',
          'the webhook was deactivated before the mail server was back: dropped, and nobody is mailed',
        ],
      },
    ],
  },
  {
    name: 'mail-with-html-of-others',
    file: 'src/mail/html.ts',
    text: "text.replaceAll(/[&<>\"']/g, (character) => ENTITIES[character] ?? '')",
    replacement: "text.replaceAll(/[&\"']/g, (character) => ENTITIES[character] ?? '')",
    noticed: "A receiver's URL or error puts pictures and links into the mails.",
    caughtBy: templates('HTML in a URL, an error or a name is shown and never rendered'),
  },
  {
    name: 'mail-with-lines-of-others',
    file: 'src/mail/mail-template.ts',
    text: "{oneLine(value)}`).join('",
    replacement: "{value}`).join('",
    noticed: "A receiver's error adds lines of its own to the mails.",
    caughtBy: templates('an error of several lines cannot add lines to the text'),
  },
  {
    name: 'mail-linked-to-nowhere',
    file: 'src/mail/mail-template.ts',
    text: '    .toLowerCase()\n    .replaceAll(/[^a-z0-9]+/g',
    replacement: '    .replaceAll(/[^a-z0-9]+/g',
    noticed: 'The links of mails lead to the top of the documentation.',
    caughtBy: templates(
      'with PUBLIC_URL requests are whole addresses, and link to where the documentation describes them',
    ),
  },
  {
    name: 'notifications-of-all-e-shops',
    file: 'src/db/eshops.ts',
    text: 'set warning_mails = $' + '{warning} where id = $' + '{eshopId}`',
    replacement: 'set warning_mails = $' + '{warning}`',
    noticed: 'One e-shop turns the warnings of all others off.',
    caughtBy: [
      {
        file: 'test/api/eshop.test.ts',
        tests: ['warnings are on unless they are turned off, and each e-shop has its own choice'],
      },
    ],
  },
];
