/** The larger parts of tests: each ends with its test (`…OfTest`) or with its file (`…OfFile`). */
import { createTestApi } from './api.ts';
import { createTestDatabase } from './database.ts';
import { startDeliveryStack } from './delivery-stack.ts';
import { endsWithFile, endsWithTest } from './ends.ts';
import { createInstallation } from './installation.ts';
import { startProgram } from './program.ts';
import { createReceiver } from './receiver.ts';

export const apiOfFile = (...args: Parameters<typeof createTestApi>) =>
  endsWithFile(createTestApi(...args), (api) => api.drop());

export const databaseOfFile = () => endsWithFile(createTestDatabase(), (database) => database.drop());

export const installationOfFile = (...args: Parameters<typeof createInstallation>) =>
  endsWithFile(createInstallation(...args), (installation) => installation.remove());

export const programOfFile = (...args: Parameters<typeof startProgram>) =>
  endsWithFile(startProgram(...args), (program) => program.stop());

/** It may have ended by itself, or been stopped. */
export const programOfTest = (...args: Parameters<typeof startProgram>) =>
  endsWithTest(startProgram(...args), (program) => program.kill().catch(() => {}));

export const receiverOfFile = (...args: Parameters<typeof createReceiver>) =>
  endsWithFile(createReceiver(...args), (receiver) => receiver.close());

export const receiverOfTest = (...args: Parameters<typeof createReceiver>) =>
  endsWithTest(createReceiver(...args), (receiver) => receiver.close());

export const stackOfFile = (...args: Parameters<typeof startDeliveryStack>) =>
  endsWithFile(startDeliveryStack(...args), (stack) => stack.stop());

export const stackOfTest = (...args: Parameters<typeof startDeliveryStack>) =>
  endsWithTest(startDeliveryStack(...args), (stack) => stack.stop());
