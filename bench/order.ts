/** What the orders of harnesses have in common: to whom they go, and how they are paid. */
export const ordinaryOrder = {
  recipientName: 'Jana Nováková',
  recipientStreet: 'Dlouhá 12',
  recipientCity: 'Praha',
  recipientPostCode: '110 00',
  recipientCountry: 'CZ',
  paid: true,
  paymentType: 1,
  currency: 'CZK',
} as const;
