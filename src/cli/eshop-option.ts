/** The option of every command that is about one e-shop. */
import { Option } from 'commander';
import * as v from 'valibot';

/** The option that names an e-shop. */
export const eshopOption = () => new Option('--eshop <id>', 'number of the e-shop').makeOptionMandatory();
/** What that option becomes. */
export const eshopSchema = v.object({
  eshop: v.pipe(
    v.string(),
    v.regex(/^[1-9]\d{0,8}$/, '--eshop must be the number of an e-shop; waybill eshop list shows them.'),
    v.transform(Number),
  ),
});

/** The options that an e-shop is created and changed with. */
export const name = v.pipe(v.string(), v.trim(), v.minLength(1, '--name must not be empty.'));
export const email = v.pipe(v.string(), v.email('--email must be an e-mail address.'));
