/**
 * What the 18 kinds of event deliver, in both payload versions. Made by `npm run receiver:generate` from the schemas of the server: do not edit.
 */
import type { Kind } from './kinds.ts';

/** The `payloadVersion` of a webhook. */
export type PayloadVersion = 'v2' | 'v21';

/** A record of the kind "order" in v2: money and counts as decimal strings. */
export interface OrderV2 {
  /** Chosen by the e-shop, unique among its orders. */
  readonly eshopOrderId: string;
  readonly status:
    | 'preOrder'
    | 'preReceived'
    | 'suspended'
    | 'waitingForPayment'
    | 'incorrect'
    | 'received'
    | 'productsNotAvailable'
    | 'processing'
    | 'packed'
    | 'waitingForCarrier'
    | 'onTheWay'
    | 'delivered'
    | 'lost'
    | 'returningBack'
    | 'returnedBack'
    | 'receivedBack'
    | 'canceled';
  /** When a preOrder is released automatically. Only for a preOrder; must be in the future. */
  readonly releaseAt: string | null;
  /** Only for b2b. */
  readonly requiredExpeditionDate: string | null;
  /** b2c by default. */
  readonly orderType: 'b2c' | 'b2b' | 'transfer';
  /** Required for transfer orders. */
  readonly transferCompany: string | null;
  /** Name for the delivery. */
  readonly recipientName: string | null;
  /** Company for the delivery. */
  readonly recipientCompanyName: string | null;
  /** E-mail address for the delivery. */
  readonly recipientEmail: string | null;
  /** Telephone number for the delivery. */
  readonly recipientPhone: string | null;
  /** Street and number for the delivery. */
  readonly recipientStreet: string | null;
  /** City for the delivery. */
  readonly recipientCity: string | null;
  /** Postal code for the delivery. */
  readonly recipientPostCode: string | null;
  /** ISO 3166-1 alpha-2, such as CZ. */
  readonly recipientCountry: string | null;
  /** Name for billing. */
  readonly billingName: string | null;
  /** Company for billing. */
  readonly billingCompanyName: string | null;
  /** E-mail address for billing. */
  readonly billingEmail: string | null;
  /** Telephone number for billing. */
  readonly billingPhone: string | null;
  /** Street and number for billing. */
  readonly billingStreet: string | null;
  /** City for billing. */
  readonly billingCity: string | null;
  /** Postal code for billing. */
  readonly billingPostCode: string | null;
  /** ISO 3166-1 alpha-2, such as CZ. */
  readonly billingCountry: string | null;
  /** From GET /v2/shipper-service-codes, together with shipperService. */
  readonly shipper: string | null;
  /** A service of the shipper. */
  readonly shipperService: string | null;
  /** The pickup point of the carrier; required if the service delivers to pickup points, and not allowed otherwise. */
  readonly pickupPoint: string | null;
  /** Whether the order is paid. */
  readonly paid: boolean;
  /** 0 cash on delivery, 1 card online, 2 bank transfer. */
  readonly paymentType: 0 | 1 | 2 | null;
  /** The amount to collect, for payment type 0. */
  readonly cashOnDelivery: string | null;
  /** ISO 4217, such as EUR. */
  readonly currency: string | null;
  /** Internal note of the e-shop, not shown to the customer. */
  readonly note: string | null;
  /** The branch of the e-shop to which orders are sent together. */
  readonly branch: string | null;
  /** Number of the invoice. */
  readonly invoiceNumber: string | null;
  /** Print the order file of type invoice, which is then required. */
  readonly invoicePrint: boolean;
  /** Tells the warehouse to pick from quality; units are still reserved from `stock.available`. */
  readonly pickFromQuality: boolean;
  /** Tracking numbers of the packages. */
  readonly trackingNumbers: readonly string[];
  /** Only for b2b. */
  readonly sanction: boolean;
  /** 0 normal, 1 high. */
  readonly priority: 0 | 1;
  /** Standard shipping is not ordered; requires `marketplace` and a file of type shippingAddonLabel. */
  readonly disableShippingReorder: boolean;
  /** One of the marketplaces that the warehouse knows. Required when disableShippingReorder is true. */
  readonly marketplace:
    | 'allegro'
    | 'amazon'
    | 'kaufland'
    | 'emag'
    | 'zalando'
    | 'aboutyou'
    | 'otto'
    | 'bol'
    | 'ebay'
    | 'etsy'
    | 'cdiscount'
    | 'erli'
    | 'empik'
    | 'trendyol'
    | 'alza'
    | 'temu'
    | 'decathlon'
    | 'other'
    | (string & {})
    | null;
  /** Files that come with the order. */
  readonly orderFiles: readonly {
    readonly type: 'invoice' | 'shippingLabel' | 'shippingAddonLabel' | 'other';
    readonly fileName: string;
    readonly url: string;
  }[];
  readonly orderProducts: readonly {
    readonly sku: string;
    /** Decimal string, no trailing zeros. */
    readonly quantity: string;
    /** Decimal string, two to four decimals. */
    readonly unitPrice: string | null;
    /** Percent. */
    readonly vatRate: string | null;
    readonly lot: string | null;
    readonly packingLists?: readonly {
      readonly packageNumber: number;
      readonly packageType: string | null;
      /** Serial Shipping Container Code: 18 digits, the last one the GS1 check digit. */
      readonly sscc: string | null;
      readonly trackingNumber: string | null;
      /** Grams. */
      readonly weight: number | null;
      /** Decimal string, no trailing zeros. */
      readonly quantity: string;
      readonly lot: string | null;
      readonly expirationDate: string | null;
      readonly serialNumbers: readonly string[];
    }[];
  }[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deliveredAt: string | null;
  readonly canceledAt: string | null;
  readonly statusHistory: readonly {
    readonly status:
      | 'preOrder'
      | 'preReceived'
      | 'suspended'
      | 'waitingForPayment'
      | 'incorrect'
      | 'received'
      | 'productsNotAvailable'
      | 'processing'
      | 'packed'
      | 'waitingForCarrier'
      | 'onTheWay'
      | 'delivered'
      | 'lost'
      | 'returningBack'
      | 'returnedBack'
      | 'receivedBack'
      | 'canceled';
    readonly at: string;
    readonly note: string | null;
  }[];
}

/** A record of the kind "order" in v21: JSON numbers. */
export interface Order {
  /** Chosen by the e-shop, unique among its orders. */
  readonly eshopOrderId: string;
  readonly status:
    | 'preOrder'
    | 'preReceived'
    | 'suspended'
    | 'waitingForPayment'
    | 'incorrect'
    | 'received'
    | 'productsNotAvailable'
    | 'processing'
    | 'packed'
    | 'waitingForCarrier'
    | 'onTheWay'
    | 'delivered'
    | 'lost'
    | 'returningBack'
    | 'returnedBack'
    | 'receivedBack'
    | 'canceled';
  /** When a preOrder is released automatically. Only for a preOrder; must be in the future. */
  readonly releaseAt: string | null;
  /** Only for b2b. */
  readonly requiredExpeditionDate: string | null;
  /** b2c by default. */
  readonly orderType: 'b2c' | 'b2b' | 'transfer';
  /** Required for transfer orders. */
  readonly transferCompany: string | null;
  /** Name for the delivery. */
  readonly recipientName: string | null;
  /** Company for the delivery. */
  readonly recipientCompanyName: string | null;
  /** E-mail address for the delivery. */
  readonly recipientEmail: string | null;
  /** Telephone number for the delivery. */
  readonly recipientPhone: string | null;
  /** Street and number for the delivery. */
  readonly recipientStreet: string | null;
  /** City for the delivery. */
  readonly recipientCity: string | null;
  /** Postal code for the delivery. */
  readonly recipientPostCode: string | null;
  /** ISO 3166-1 alpha-2, such as CZ. */
  readonly recipientCountry: string | null;
  /** Name for billing. */
  readonly billingName: string | null;
  /** Company for billing. */
  readonly billingCompanyName: string | null;
  /** E-mail address for billing. */
  readonly billingEmail: string | null;
  /** Telephone number for billing. */
  readonly billingPhone: string | null;
  /** Street and number for billing. */
  readonly billingStreet: string | null;
  /** City for billing. */
  readonly billingCity: string | null;
  /** Postal code for billing. */
  readonly billingPostCode: string | null;
  /** ISO 3166-1 alpha-2, such as CZ. */
  readonly billingCountry: string | null;
  /** From GET /v2/shipper-service-codes, together with shipperService. */
  readonly shipper: string | null;
  /** A service of the shipper. */
  readonly shipperService: string | null;
  /** The pickup point of the carrier; required if the service delivers to pickup points, and not allowed otherwise. */
  readonly pickupPoint: string | null;
  /** Whether the order is paid. */
  readonly paid: boolean;
  /** 0 cash on delivery, 1 card online, 2 bank transfer. */
  readonly paymentType: 0 | 1 | 2 | null;
  /** The amount to collect, for payment type 0. */
  readonly cashOnDelivery: number | null;
  /** ISO 4217, such as EUR. */
  readonly currency: string | null;
  /** Internal note of the e-shop, not shown to the customer. */
  readonly note: string | null;
  /** The branch of the e-shop to which orders are sent together. */
  readonly branch: string | null;
  /** Number of the invoice. */
  readonly invoiceNumber: string | null;
  /** Print the order file of type invoice, which is then required. */
  readonly invoicePrint: boolean;
  /** Tells the warehouse to pick from quality; units are still reserved from `stock.available`. */
  readonly pickFromQuality: boolean;
  /** Tracking numbers of the packages. */
  readonly trackingNumbers: readonly string[];
  /** Only for b2b. */
  readonly sanction: boolean;
  /** 0 normal, 1 high. */
  readonly priority: 0 | 1;
  /** Standard shipping is not ordered; requires `marketplace` and a file of type shippingAddonLabel. */
  readonly disableShippingReorder: boolean;
  /** One of the marketplaces that the warehouse knows. Required when disableShippingReorder is true. */
  readonly marketplace:
    | 'allegro'
    | 'amazon'
    | 'kaufland'
    | 'emag'
    | 'zalando'
    | 'aboutyou'
    | 'otto'
    | 'bol'
    | 'ebay'
    | 'etsy'
    | 'cdiscount'
    | 'erli'
    | 'empik'
    | 'trendyol'
    | 'alza'
    | 'temu'
    | 'decathlon'
    | 'other'
    | (string & {})
    | null;
  /** Files that come with the order. */
  readonly orderFiles: readonly {
    readonly type: 'invoice' | 'shippingLabel' | 'shippingAddonLabel' | 'other';
    readonly fileName: string;
    readonly url: string;
  }[];
  readonly orderProducts: readonly {
    readonly sku: string;
    readonly quantity: number;
    readonly unitPrice: number | null;
    /** Percent. */
    readonly vatRate: number | null;
    readonly lot: string | null;
    readonly packingLists?: readonly {
      readonly packageNumber: number;
      readonly packageType: string | null;
      /** Serial Shipping Container Code: 18 digits, the last one the GS1 check digit. */
      readonly sscc: string | null;
      readonly trackingNumber: string | null;
      /** Grams. */
      readonly weight: number | null;
      readonly quantity: number;
      readonly lot: string | null;
      readonly expirationDate: string | null;
      readonly serialNumbers: readonly string[];
    }[];
  }[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deliveredAt: string | null;
  readonly canceledAt: string | null;
  readonly statusHistory: readonly {
    readonly status:
      | 'preOrder'
      | 'preReceived'
      | 'suspended'
      | 'waitingForPayment'
      | 'incorrect'
      | 'received'
      | 'productsNotAvailable'
      | 'processing'
      | 'packed'
      | 'waitingForCarrier'
      | 'onTheWay'
      | 'delivered'
      | 'lost'
      | 'returningBack'
      | 'returnedBack'
      | 'receivedBack'
      | 'canceled';
    readonly at: string;
    readonly note: string | null;
  }[];
}

/** A record of the kind "product" in v2: money and counts as decimal strings. */
export interface ProductV2 {
  readonly sku: string;
  readonly name: string;
  readonly description: string | null;
  readonly ean: string | null;
  readonly upc: string | null;
  /** Decimal string, two to four decimals. */
  readonly price: string | null;
  /** ISO 4217, such as EUR. */
  readonly currency: string | null;
  /** Grams. */
  readonly weight: number | null;
  /** Millimetres. */
  readonly width: number | null;
  /** Millimetres. */
  readonly height: number | null;
  /** Millimetres. */
  readonly depth: number | null;
  /** ISO 3166-1 alpha-2, such as CZ. */
  readonly originCountry: string | null;
  readonly hsCode: string | null;
  readonly batteryType: 'no' | 'device' | 'package' | null;
  readonly expMethod: 'FIFO' | 'FEFO' | null;
  readonly productType: 'finalProduct' | 'semiProduct' | 'packagingMaterial' | 'promoMaterial' | 'virtual';
  readonly scanSerialNumber: boolean;
  readonly trackLot: boolean;
  readonly trackExpiration: boolean;
  readonly fragile: boolean;
  readonly ageCheck: boolean;
  readonly active: boolean;
  readonly note: string | null;
  /** `available + reserved + onHold` is what is in the warehouse: the sum of the counts of all stock movements except holds and releases, which move units between `available` and `onHold`. A change of stock fires no UPDATE_PRODUCT. */
  readonly stock: {
    /** Units that may still be reserved: neither reserved nor on hold. Never below zero. */
    readonly available: string;
    /** Units that orders have reserved and that have not left yet. */
    readonly reserved: string;
    /** Units on quality hold: the sum of the holds less the sum of the releases. */
    readonly onHold: string;
    /** Units announced by open receivings; not in the warehouse yet. */
    readonly awaiting: string;
  };
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A record of the kind "product" in v21: JSON numbers. */
export interface Product {
  readonly sku: string;
  readonly name: string;
  readonly description: string | null;
  readonly ean: string | null;
  readonly upc: string | null;
  readonly price: number | null;
  /** ISO 4217, such as EUR. */
  readonly currency: string | null;
  /** Grams. */
  readonly weight: number | null;
  /** Millimetres. */
  readonly width: number | null;
  /** Millimetres. */
  readonly height: number | null;
  /** Millimetres. */
  readonly depth: number | null;
  /** ISO 3166-1 alpha-2, such as CZ. */
  readonly originCountry: string | null;
  readonly hsCode: string | null;
  readonly batteryType: 'no' | 'device' | 'package' | null;
  readonly expMethod: 'FIFO' | 'FEFO' | null;
  readonly productType: 'finalProduct' | 'semiProduct' | 'packagingMaterial' | 'promoMaterial' | 'virtual';
  readonly scanSerialNumber: boolean;
  readonly trackLot: boolean;
  readonly trackExpiration: boolean;
  readonly fragile: boolean;
  readonly ageCheck: boolean;
  readonly active: boolean;
  readonly note: string | null;
  /** `available + reserved + onHold` is what is in the warehouse: the sum of the counts of all stock movements except holds and releases, which move units between `available` and `onHold`. A change of stock fires no UPDATE_PRODUCT. */
  readonly stock: {
    /** Units that may still be reserved: neither reserved nor on hold. Never below zero. */
    readonly available: number;
    /** Units that orders have reserved and that have not left yet. */
    readonly reserved: number;
    /** Units on quality hold: the sum of the holds less the sum of the releases. */
    readonly onHold: number;
    /** Units announced by open receivings; not in the warehouse yet. */
    readonly awaiting: number;
  };
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A record of the kind "receiving" in v2: money and counts as decimal strings. */
export interface ReceivingV2 {
  /** Chosen by the e-shop, unique among its receivings. */
  readonly eshopReceivingId: string;
  /** The carrier that brings the goods. */
  readonly carrierInfo: string | null;
  /** Number of the delivery note. */
  readonly deliveryNoteNumber: string | null;
  /** How the goods are transported. */
  readonly deliveryType: 'courier' | 'transportCompany' | 'truckingCompany' | 'container' | null;
  /** A description for the warehouse. */
  readonly description: string | null;
  /** The driver's company. */
  readonly driverCompany: string | null;
  /** Contact of the driver's dispatcher. */
  readonly driverDispatcherContact: string | null;
  /** The driver's name. */
  readonly driverName: string | null;
  /** The driver's telephone number. */
  readonly driverPhone: string | null;
  /** License plate of the trailer. */
  readonly driverTrailerLicensePlate: string | null;
  /** Whether duty is to be paid. */
  readonly duty: boolean;
  /** When the goods are expected. */
  readonly estimatedDelivery: string | null;
  /** The kind of unit in which the goods arrive. */
  readonly handlingUnits: 'pallet' | 'carton' | 'box_loose' | 'piece' | 'container' | null;
  /** How the goods are packed. */
  readonly packagings: readonly {
    /** Such as EUR pallet or carton. */
    readonly type: string;
    /** Decimal string, no trailing zeros. */
    readonly quantity: string;
    /** Serial Shipping Container Code: 18 digits, the last one the GS1 check digit. */
    readonly sscc: string | null;
  }[];
  readonly products: readonly {
    /** A product of the e-shop. */
    readonly sku: string;
    /** Decimal string, no trailing zeros. */
    readonly quantity: string;
    /** A product may come in several lots, one line each. */
    readonly lot: string | null;
    /** Units counted by the warehouse; null before that. */
    readonly received: string | null;
    /** When the units expire. */
    readonly expirationDate: string | null;
    /** E: enabled. D: disabled, because an update left the line out. */
    readonly lineState: 'E' | 'D';
  }[];
  readonly status: 'awaiting' | 'arrived' | 'received' | 'stocked' | 'canceled';
  /** Who sends the goods. */
  readonly supplier: string;
  /** The carrier's tracking number. */
  readonly trackingNumber: string | null;
  /** Decimal string, no trailing zeros. */
  readonly unitsAmount: string;
  /** Whether the goods are to be stocked with priority. */
  readonly urgent: boolean | null;
}

/** A record of the kind "receiving" in v21: JSON numbers. */
export interface Receiving {
  /** Chosen by the e-shop, unique among its receivings. */
  readonly eshopReceivingId: string;
  /** The carrier that brings the goods. */
  readonly carrierInfo: string | null;
  /** Number of the delivery note. */
  readonly deliveryNoteNumber: string | null;
  /** How the goods are transported. */
  readonly deliveryType: 'courier' | 'transportCompany' | 'truckingCompany' | 'container' | null;
  /** A description for the warehouse. */
  readonly description: string | null;
  /** The driver's company. */
  readonly driverCompany: string | null;
  /** Contact of the driver's dispatcher. */
  readonly driverDispatcherContact: string | null;
  /** The driver's name. */
  readonly driverName: string | null;
  /** The driver's telephone number. */
  readonly driverPhone: string | null;
  /** License plate of the trailer. */
  readonly driverTrailerLicensePlate: string | null;
  /** Whether duty is to be paid. */
  readonly duty: boolean;
  /** When the goods are expected. */
  readonly estimatedDelivery: string | null;
  /** The kind of unit in which the goods arrive. */
  readonly handlingUnits: 'pallet' | 'carton' | 'box_loose' | 'piece' | 'container' | null;
  /** How the goods are packed. */
  readonly packagings: readonly {
    /** Such as EUR pallet or carton. */
    readonly type: string;
    /** Number of handling units of this type. */
    readonly quantity: number;
    /** Serial Shipping Container Code: 18 digits, the last one the GS1 check digit. */
    readonly sscc: string | null;
  }[];
  readonly products: readonly {
    /** A product of the e-shop. */
    readonly sku: string;
    /** Units announced; 0 for a lot that was found on arrival. */
    readonly quantity: number;
    /** A product may come in several lots, one line each. */
    readonly lot: string | null;
    /** Units counted by the warehouse; null before that. */
    readonly received: number | null;
    /** When the units expire. */
    readonly expirationDate: string | null;
    /** E: enabled. D: disabled, because an update left the line out. */
    readonly lineState: 'E' | 'D';
  }[];
  readonly status: 'awaiting' | 'arrived' | 'received' | 'stocked' | 'canceled';
  /** Who sends the goods. */
  readonly supplier: string;
  /** The carrier's tracking number. */
  readonly trackingNumber: string | null;
  /** The sum of the enabled lines. */
  readonly unitsAmount: number;
  /** Whether the goods are to be stocked with priority. */
  readonly urgent: boolean | null;
}

/** A record of the kind "return" in v2: money and counts as decimal strings. */
export interface ReturnV2 {
  /** Chosen by the e-shop, unique among its returns. */
  readonly eshopReturnId: string;
  /** The order that the goods come from; it need not be known to this service. */
  readonly eshopOrderId: string | null;
  /** The type of that order. */
  readonly orderType: 'b2c' | 'b2b' | 'transfer' | null;
  /** A description for the warehouse. */
  readonly description: string | null;
  /** The carrier that brings the goods back. */
  readonly shipper: string | null;
  /** The carrier's service. */
  readonly shipperServiceCode: string | null;
  /** The carrier's tracking number. */
  readonly trackingNumber: string | null;
  /** The e-shop's own note. */
  readonly eshopNote: string | null;
  readonly returnedOrderProducts: readonly {
    /** A product of the e-shop. */
    readonly sku: string;
    /** Decimal string, no trailing zeros. */
    readonly quantity: string;
    /** Units counted by the warehouse; null before that. */
    readonly received: string | null;
    /** Why the customer is returning it. */
    readonly returnReason:
      | 'exchange'
      | 'defective'
      | 'wrongItem'
      | 'wrongSize'
      | 'notAsDescribed'
      | 'unwanted'
      | 'undeliverable'
      | 'other'
      | null;
    /** What happens to the units; returnToInventory and null add them to the stock again. */
    readonly resolution: 'returnToInventory' | 'qualityHold' | 'dispose' | 'sendBack' | null;
    /** The lot, if known. */
    readonly lot: string | null;
    /** E: enabled. D: disabled, because an update left the line out. */
    readonly lineState: 'E' | 'D';
  }[];
  /** Number of the return merchandise authorization. */
  readonly rma: string | null;
  /** The warehouse's note. */
  readonly note: string | null;
  readonly status: 'awaiting' | 'arrived' | 'processing' | 'completed' | 'rejected' | 'canceled';
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When the return was completed. */
  readonly confirmedAt: string | null;
  /** When the goods arrived. */
  readonly receivedAt: string | null;
  /** When the return was canceled. */
  readonly canceledAt: string | null;
}

/** A record of the kind "return" in v21: JSON numbers. */
export interface Return {
  /** Chosen by the e-shop, unique among its returns. */
  readonly eshopReturnId: string;
  /** The order that the goods come from; it need not be known to this service. */
  readonly eshopOrderId: string | null;
  /** The type of that order. */
  readonly orderType: 'b2c' | 'b2b' | 'transfer' | null;
  /** A description for the warehouse. */
  readonly description: string | null;
  /** The carrier that brings the goods back. */
  readonly shipper: string | null;
  /** The carrier's service. */
  readonly shipperServiceCode: string | null;
  /** The carrier's tracking number. */
  readonly trackingNumber: string | null;
  /** The e-shop's own note. */
  readonly eshopNote: string | null;
  readonly returnedOrderProducts: readonly {
    /** A product of the e-shop. */
    readonly sku: string;
    /** Units announced; 0 for a lot that was found on arrival. */
    readonly quantity: number;
    /** Units counted by the warehouse; null before that. */
    readonly received: number | null;
    /** Why the customer is returning it. */
    readonly returnReason:
      | 'exchange'
      | 'defective'
      | 'wrongItem'
      | 'wrongSize'
      | 'notAsDescribed'
      | 'unwanted'
      | 'undeliverable'
      | 'other'
      | null;
    /** What happens to the units; returnToInventory and null add them to the stock again. */
    readonly resolution: 'returnToInventory' | 'qualityHold' | 'dispose' | 'sendBack' | null;
    /** The lot, if known. */
    readonly lot: string | null;
    /** E: enabled. D: disabled, because an update left the line out. */
    readonly lineState: 'E' | 'D';
  }[];
  /** Number of the return merchandise authorization. */
  readonly rma: string | null;
  /** The warehouse's note. */
  readonly note: string | null;
  readonly status: 'awaiting' | 'arrived' | 'processing' | 'completed' | 'rejected' | 'canceled';
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When the return was completed. */
  readonly confirmedAt: string | null;
  /** When the goods arrived. */
  readonly receivedAt: string | null;
  /** When the return was canceled. */
  readonly canceledAt: string | null;
}

/** A record of the kind "stock movement" in v2: money and counts as decimal strings. */
export interface StockMovementV2 {
  /** Assigned by the service; of two movements of a product, the later one has the higher id. */
  readonly id: number;
  /** What moved the units; determines which event is fired. */
  readonly type:
    | 'stock_correction'
    | 'completition'
    | 'order'
    | 'return'
    | 'receiving'
    | 'quality_hold'
    | 'quality_release';
  /** A product of the e-shop. */
  readonly sku: string;
  /** Decimal string, no trailing zeros. */
  readonly count: string;
  /** The lot of the units. */
  readonly lot: string | null;
  /** When the units expire. */
  readonly expirationDate: string | null;
  /** The order's, return's or receiving's identifier, if the type refers to one. */
  readonly reference: string | null;
  /** The warehouse's note. */
  readonly note: string | null;
  /** The product's available units after the movement. Units that an order has reserved are no longer available, so the movement that takes them out of the stock does not change the balance. */
  readonly balance: string;
  readonly createdAt: string;
}

/** A record of the kind "stock movement" in v21: JSON numbers. */
export interface StockMovement {
  /** Assigned by the service; of two movements of a product, the later one has the higher id. */
  readonly id: number;
  /** What moved the units; determines which event is fired. */
  readonly type:
    | 'stock_correction'
    | 'completition'
    | 'order'
    | 'return'
    | 'receiving'
    | 'quality_hold'
    | 'quality_release';
  /** A product of the e-shop. */
  readonly sku: string;
  /** Units, not 0. Positive for units that come, negative for units that go; always positive for quality_hold and quality_release. */
  readonly count: number;
  /** The lot of the units. */
  readonly lot: string | null;
  /** When the units expire. */
  readonly expirationDate: string | null;
  /** The order's, return's or receiving's identifier, if the type refers to one. */
  readonly reference: string | null;
  /** The warehouse's note. */
  readonly note: string | null;
  /** The product's available units after the movement. Units that an order has reserved are no longer available, so the movement that takes them out of the stock does not change the balance. */
  readonly balance: number;
  readonly createdAt: string;
}

/** By payload version and kind. */
export interface Payloads {
  readonly v2: {
    /** When an order is created. */
    readonly CREATE_ORDER: OrderV2;
    /** When an order is updated. */
    readonly UPDATE_ORDER: OrderV2;
    /** When the status of an order changes. */
    readonly UPDATE_ORDER_STATUS: OrderV2;
    /** When a product is created. */
    readonly CREATE_PRODUCT: ProductV2;
    /** When a product is updated. */
    readonly UPDATE_PRODUCT: ProductV2;
    /** When a receiving is created. */
    readonly CREATE_RECEIVING: ReceivingV2;
    /** When a receiving is updated. */
    readonly UPDATE_RECEIVING: ReceivingV2;
    /** When the status of a receiving changes. */
    readonly UPDATE_RECEIVING_STATUS: ReceivingV2;
    /** When a return is created. */
    readonly CREATE_RETURN: ReturnV2;
    /** When a return is updated. */
    readonly UPDATE_RETURN: ReturnV2;
    /** When the status of a return changes. */
    readonly UPDATE_RETURN_STATUS: ReturnV2;
    /** When a stock movement of type stock_correction is created. */
    readonly CREATE_STOCK_MOVEMENT_STOCK_CORRECTION: StockMovementV2 & { readonly type: 'stock_correction' };
    /** When a stock movement of type completition is created. */
    readonly CREATE_STOCK_MOVEMENT_COMPLETITION: StockMovementV2 & { readonly type: 'completition' };
    /** When a stock movement for an order is created. */
    readonly CREATE_STOCK_MOVEMENT_ORDER: StockMovementV2 & { readonly type: 'order' };
    /** When a stock movement for a return is created. */
    readonly CREATE_STOCK_MOVEMENT_RETURN: StockMovementV2 & { readonly type: 'return' };
    /** When a stock movement for a receiving is created. */
    readonly CREATE_STOCK_MOVEMENT_RECEIVING: StockMovementV2 & { readonly type: 'receiving' };
    /** When a stock movement for a quality hold is created. */
    readonly CREATE_STOCK_MOVEMENT_QUALITY_HOLD: StockMovementV2 & { readonly type: 'quality_hold' };
    /** When a stock movement for a quality release is created. */
    readonly CREATE_STOCK_MOVEMENT_QUALITY_RELEASE: StockMovementV2 & { readonly type: 'quality_release' };
  };
  readonly v21: {
    /** When an order is created. */
    readonly CREATE_ORDER: Order;
    /** When an order is updated. */
    readonly UPDATE_ORDER: Order;
    /** When the status of an order changes. */
    readonly UPDATE_ORDER_STATUS: Order;
    /** When a product is created. */
    readonly CREATE_PRODUCT: Product;
    /** When a product is updated. */
    readonly UPDATE_PRODUCT: Product;
    /** When a receiving is created. */
    readonly CREATE_RECEIVING: Receiving;
    /** When a receiving is updated. */
    readonly UPDATE_RECEIVING: Receiving;
    /** When the status of a receiving changes. */
    readonly UPDATE_RECEIVING_STATUS: Receiving;
    /** When a return is created. */
    readonly CREATE_RETURN: Return;
    /** When a return is updated. */
    readonly UPDATE_RETURN: Return;
    /** When the status of a return changes. */
    readonly UPDATE_RETURN_STATUS: Return;
    /** When a stock movement of type stock_correction is created. */
    readonly CREATE_STOCK_MOVEMENT_STOCK_CORRECTION: StockMovement & { readonly type: 'stock_correction' };
    /** When a stock movement of type completition is created. */
    readonly CREATE_STOCK_MOVEMENT_COMPLETITION: StockMovement & { readonly type: 'completition' };
    /** When a stock movement for an order is created. */
    readonly CREATE_STOCK_MOVEMENT_ORDER: StockMovement & { readonly type: 'order' };
    /** When a stock movement for a return is created. */
    readonly CREATE_STOCK_MOVEMENT_RETURN: StockMovement & { readonly type: 'return' };
    /** When a stock movement for a receiving is created. */
    readonly CREATE_STOCK_MOVEMENT_RECEIVING: StockMovement & { readonly type: 'receiving' };
    /** When a stock movement for a quality hold is created. */
    readonly CREATE_STOCK_MOVEMENT_QUALITY_HOLD: StockMovement & { readonly type: 'quality_hold' };
    /** When a stock movement for a quality release is created. */
    readonly CREATE_STOCK_MOVEMENT_QUALITY_RELEASE: StockMovement & { readonly type: 'quality_release' };
  };
}

/** What a kind delivers; for several kinds, one of what they deliver. */
export type Payload<K extends Kind = Kind, V extends PayloadVersion = 'v2'> = Payloads[V][K];
