import { expect, test, vi } from 'vitest';
import { banner } from '../../src/app/banner.ts';

const ready = {
  apiUrl: 'http://127.0.0.1:8080',
  metricsUrl: 'http://127.0.0.1:9464',
  temporalUiUrl: null,
  temporalAddress: '127.0.0.1:7233',
  mailDirectory: null,
  allowCidrs: [],
  demonstration: null,
  dataDir: '.waybill',
};
const shop = { username: 'shop', password: 'a' };
const demonstration = {
  eshopId: 1,
  apiKey: 'wb_1',
  ...shop,
  warehouse: { username: 'warehouse', password: 'b' },
};

test('an instance with a demonstration e-shop prints what to run and where to look', () => {
  expect(banner({ ...ready, demonstration })).toContain(
    [
      '',
      'To see it at work: npx --no waybill demo --receive',
      'then sign in to http://127.0.0.1:8080/console as shop of e-shop 1. First steps of your own: http://127.0.0.1:8080/docs',
      '',
    ].join('\n'),
  );
  expect(banner({ ...ready, demonstration, dataDir: '/data/two' })).toContain(
    'To see it at work: DATA_DIR=/data/two npx --no waybill demo --receive\n',
  );
});

test('an image prints commands for docker exec, without the folder', () => {
  vi.stubEnv('WAYBILL_IMAGE', '1');
  const text = banner({ ...ready, demonstration, dataDir: '/var/lib/waybill' });
  vi.unstubAllEnvs();
  expect(text).toContain('To see it at work: docker exec CONTAINER waybill demo --receive\n');
  expect(text).not.toContain('npx');
});

test('no demonstration is mentioned without its e-shop, or by a worker alone', () => {
  expect(banner(ready)).not.toContain('To see it at work');
  expect(banner({ ...ready, apiUrl: null, demonstration })).not.toContain('To see it at work');
});
