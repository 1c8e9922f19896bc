/** The number of a webhook, as it is written at the command line. */
import * as v from 'valibot';
import { UserError } from '../lib/user-error.ts';

/** @param name of the option or argument, for the message */
export const webhookNumber = (name: string) =>
  v.pipe(
    v.string(),
    v.regex(/^[1-9]\d{0,8}$/, `${name} must be the number of a webhook.`),
    v.transform(Number),
  );

/** A webhook of that number is not there. */
export const noSuchWebhook = (id: number) => new UserError(`There is no webhook ${id}.`);
