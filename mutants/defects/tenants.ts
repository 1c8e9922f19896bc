/** E-shops see and control only what is theirs. */
import { catchers, type Defect } from '../defect.ts';

export const tenantDefects: readonly Defect[] = [
  {
    name: 'notifications-of-all-e-shops',
    file: 'src/db/notices/settings.ts',
    text: `notice_format = coalesce(\${format}, notice_format)
    where id = \${eshopId}\`;`,
    replacement: `notice_format = coalesce(\${format}, notice_format)\`;`,
    symptom: 'One e-shop turns the warnings of all others off.',
    caughtBy: catchers(
      'test/api/eshop.test.ts',
      'warnings are on by default, and each e-shop chooses for itself',
    ),
  },
  {
    name: 'console-acts-on-others',
    file: 'src/console/deliveries/routes.tsx',
    text: `    // The workflow itself does not check who owns the delivery.\n    await c.var.api.get(DeliveryWithAttempts, \`/v21/deliveries/\${piece(id)}\`);\n`,
    replacement: '',
    symptom: 'An e-shop gives up the deliveries of another.',
    caughtBy: catchers('test/console/security.test.ts', 'pages and actions of another e-shop do not exist'),
  },
  {
    name: 'console-records-of-others',
    file: 'src/db/console/records.ts',
    text: `from \${table} t where t.eshop_id = \${eshopId} \${behind}`,
    replacement: `from \${table} t where t.eshop_id is not null and \${eshopId}::int is not null \${behind}`,
    symptom: 'An e-shop sees the orders of every other.',
    caughtBy: catchers('test/console/security.test.ts', 'pages and actions of another e-shop do not exist'),
  },
  {
    name: 'console-counts-of-others',
    file: 'src/db/console/delivery-counts.ts',
    text: `where eshop_id = \${eshopId} and deleted_at is null order by id`,
    replacement: `where \${eshopId}::int is not null and deleted_at is null order by id`,
    symptom: 'The chart of an e-shop counts the deliveries of all.',
    caughtBy: catchers(
      'test/db/console/delivery-counts.test.ts',
      'the deliveries of an e-shop since a time are counted by minute and outcome',
    ),
  },
  {
    name: 'warehouse-any-eshop',
    file: 'src/db/console/sessions.ts',
    text: 'and x.id in (select g.eshop_id from user_eshops g where g.user_id = u.id)',
    replacement: 'and x.id in (select g.eshop_id from user_eshops g) or x.id is not null',
    symptom: 'A user of the warehouse sees e-shops that nobody gave it.',
    caughtBy: catchers(
      'test/console/warehouse.test.ts',
      'e-shops of others other e-shops get the same 404 as unknown ones',
    ),
  },
  {
    name: 'warehouse-lists-others',
    file: 'src/db/deliveries/deliveries-of-eshops.ts',
    text: 'among === undefined ? sql`` : sql`and e.id = any(',
    replacement: 'among !== null ? sql`` : sql`and e.id = any(',
    symptom: 'The list of all deliveries shows those of other e-shops.',
    caughtBy: catchers(
      'test/console/warehouse.test.ts',
      'e-shops of others other e-shops are in no list, and no action reaches their deliveries',
    ),
  },
];
