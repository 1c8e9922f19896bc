/** The changes to a product by its e-shop. Only stock movements and orders change its stock. */
import { catalogue } from '../catalogue.ts';
import { editsOf, type WriteContext } from '../editing.ts';
import { type ProductInput, type ProductRecord, productInputSchema } from './schema.ts';

const noStock = { available: '0', reserved: '0', onHold: '0', awaiting: '0' };

export const productEdits = editsOf<ProductRecord, ProductInput, Pick<WriteContext, 'now'>>({
  entry: catalogue.product,
  schema: productInputSchema,
  apply(input, before, { now }) {
    const at = now.toISOString();
    const { stock, createdAt, updatedAt } = before ?? { stock: noStock, createdAt: at, updatedAt: at };
    return { ...input, stock, createdAt, updatedAt };
  },
});
