/** The common part of all orders of harnesses: recipient and payment. */
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
