/** Defects of what e-shops read of their deliveries, and can do with them. */
import type { Defect } from '../defect.ts';

const file = 'test/api/delivery-operations.test.ts';

export const deliveryLogDefects: readonly Defect[] = [
  {
    name: 'payload-by-the-webhook-of-today',
    file: 'src/db/webhooks/webhooks.ts',
    text: '    await keepForm(tx, before.id, input);\n',
    replacement: '',
    noticed:
      'The payload shown of a delivery that has ended is not the one that was sent, once its webhook was replaced.',
    caughtBy: [
      {
        file,
        tests: [
          'the payload of an ended delivery is what its last attempt sent, whatever the webhook became',
        ],
      },
    ],
  },
  {
    name: 'payload-of-an-open-delivery-from-the-past',
    file: 'src/db/webhooks/forms.ts',
    text: " and d.state not in ('pending', 'retrying')",
    replacement: '',
    noticed:
      'After a replacement, the payload shown of an open delivery is not the one that it is going to send.',
    caughtBy: [
      {
        file,
        tests: ['the payload of an open delivery is what the webhook as it is now gets, held or not'],
      },
    ],
  },
  {
    name: 'redelivery-beside-another',
    file: 'src/db/outbox/redeliver.ts',
    text: '  if (openId !== null) return',
    replacement: '  if (openId === deliveryId) return',
    noticed: 'Whoever asks twice for a redelivery gets the event twice.',
    caughtBy: [
      {
        file,
        tests: [
          'a redelivery waits for the end of the delivery, and of an earlier redelivery of the same event',
          'a redelivery asked for ten times at once is created once',
        ],
      },
    ],
  },
  {
    name: 'redeliveries-at-the-same-moment',
    file: 'src/db/outbox/redeliver.ts',
    text: ' for no key update of e`',
    replacement: '`',
    noticed: 'Of requests for a redelivery that arrive at the same moment, several create one each.',
    caughtBy: [{ file, tests: ['a redelivery asked for ten times at once is created once'] }],
  },
];
