/** The products of the demonstration's warehouse, its suppliers and its customers. */

/** A product of the day. Prices in CZK, weights in grams. */
export interface Good {
  /** The SKU, without the run's prefix. */
  readonly code: string;
  readonly name: string;
  readonly price: number;
  readonly weight: number;
  readonly originCountry: string;
  /** Comes in lots that expire. */
  readonly food?: true;
}

/** Sold one by one. */
export const goods: readonly Good[] = [
  { code: 'SENCHA', name: 'Sencha, 100 g', price: 349.9, weight: 120, originCountry: 'JP', food: true },
  { code: 'MATCHA', name: 'Matcha, 30 g', price: 589, weight: 60, originCountry: 'JP', food: true },
  { code: 'OOLONG', name: 'Oolong, 50 g', price: 279.5, weight: 70, originCountry: 'TW', food: true },
  { code: 'HONEY', name: 'Lime honey, 500 g', price: 189, weight: 780, originCountry: 'CZ', food: true },
  { code: 'MUG-BLUE', name: 'Blue mug', price: 249, weight: 340, originCountry: 'CZ' },
  { code: 'KETTLE', name: 'Cast iron kettle', price: 1890, weight: 1750, originCountry: 'CN' },
  { code: 'WHISK', name: 'Bamboo whisk', price: 319, weight: 45, originCountry: 'JP' },
  { code: 'STRAINER', name: 'Strainer', price: 99.9, weight: 30, originCountry: 'DE' },
];

/** Assembled in the warehouse from one of each of its parts. */
export const kit = {
  code: 'KIT-MATCHA',
  name: 'Everything for matcha',
  price: 1049,
  weight: 460,
  originCountry: 'CZ',
  parts: ['MATCHA', 'WHISK', 'MUG-BLUE'],
} as const satisfies Good & { readonly parts: readonly string[] };

/** The suppliers of goods. */
export const suppliers: readonly string[] = [
  'Uji Tea Trading',
  'Pottery Beroun',
  'Včely z Podhůří',
  'Iron & Co.',
];

/** A customer. */
export interface Person {
  readonly name: string;
  readonly street: string;
  readonly city: string;
  readonly postCode: string;
  readonly country: string;
}

/** The customers of the e-shop. */
export const people: readonly Person[] = [
  { name: 'Jana Nováková', street: 'Dlouhá 1', city: 'Praha', postCode: '11000', country: 'CZ' },
  { name: 'Petr Svoboda', street: 'Veveří 12', city: 'Brno', postCode: '60200', country: 'CZ' },
  { name: 'Lucie Dvořáková', street: 'Nádražní 5', city: 'Ostrava', postCode: '70200', country: 'CZ' },
  { name: 'Zuzana Kováčová', street: 'Obchodná 7', city: 'Bratislava', postCode: '81106', country: 'SK' },
  { name: 'Greta Müller', street: 'Torstraße 44', city: 'Berlin', postCode: '10119', country: 'DE' },
  { name: 'Zofia Wiśniewska', street: 'Piękna 3', city: 'Warszawa', postCode: '00539', country: 'PL' },
  { name: 'Ágnes Szabó', street: 'Váci utca 9', city: 'Budapest', postCode: '1052', country: 'HU' },
];

/** Teahouses and shops that buy by the box. */
export const companies: readonly string[] = [
  'Čajovna U Dubu s.r.o.',
  'Teehaus am Tor GmbH',
  'Herbaciarnia Liść',
];
