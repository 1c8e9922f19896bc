/** The bodies of notices, as chats would show them. */
import { expect, test } from 'vitest';
import { type NoticeContent, noticeBody } from '../../src/domain/notice-body.ts';
import { shownByMattermost, shownBySlack, shownByTeams } from '../support/api/notices.ts';

const warning: NoticeContent = {
  id: '7a1f4d0e-6a4b-4c43-9d3b-2d0a0c5f1e11',
  kind: 'warning',
  at: new Date('2026-11-20T19:33:00Z'),
  eshop: { id: 1, name: 'Tea shop' },
  webhook: {
    id: 7,
    webhookType: 'CREATE_ORDER',
    additionalTypes: ['UPDATE_ORDER'],
    url: 'https://user-hook.example:8443/secret-path?key=1',
  },
  since: new Date('2026-11-20T13:30:00Z'),
  lastError: 'HTTP 503 from user-hook.example after 212 ms',
  failures: 9,
  deliveryId: null,
  deactivationAt: new Date('2026-11-22T13:30:00Z'),
  reason: null,
};
const recovered: NoticeContent = {
  ...warning,
  kind: 'recovered',
  lastError: null,
  failures: null,
  deactivationAt: null,
};
const lines = [
  'Webhook 7 (CREATE_ORDER and 1 more) of Tea shop is failing',
  'Receiver: user-hook.example:8443',
  'Failing since: 2026-11-20 13:30 UTC',
  'Failed: 9 attempts',
  'Last error: HTTP 503 from user-hook.example after 212 ms',
  'Will be deactivated: 2026-11-22 13:30 UTC at the earliest',
];

test('a warning reads the same in Slack, Mattermost and Teams', () => {
  const text = noticeBody(warning, 'text');
  expect(shownBySlack(text).split('\n')).toEqual(lines);
  expect(shownByMattermost(text).split('\n')).toEqual(lines);
  expect(shownByTeams(noticeBody(warning, 'teams'))).toEqual(lines);
});

test('a recovery says since when, and nothing about failures', () => {
  expect(shownByTeams(noticeBody(recovered, 'teams'))).toEqual([
    'Webhook 7 (CREATE_ORDER and 1 more) of Tea shop has recovered',
    'Receiver: user-hook.example:8443',
    'Working again since: 2026-11-20 13:30 UTC',
  ]);
  expect(JSON.parse(noticeBody(recovered, 'text'))).toMatchObject({
    kind: 'recovered',
    webhook: { id: 7, webhookType: 'CREATE_ORDER', additionalTypes: ['UPDATE_ORDER'] },
    since: '2026-11-20T13:30:00.000Z',
    failures: null,
    reason: null,
  });
});

test('foreign markup, mentions and URL paths never reach a chat', () => {
  const name = 'A & B <!channel> @here *x* `z` ~w~ _v_ u_t [y](https://evil.example) \u202e\nSecond';
  const foreign: NoticeContent = {
    ...warning,
    eshop: { id: 1, name },
    lastError: '<https://evil.example|click> @all',
  };
  const text = noticeBody(foreign, 'text');
  // The checkers throw at what would act.
  expect(shownBySlack(text)).toContain('A & B <!channel> @\u200bhere ∗x∗ ˋzˋ ∼w∼ ＿v＿ u_t [y]');
  shownByMattermost(text);
  const card = noticeBody(foreign, 'teams');
  expect(card).toContain('\\\\[y\\\\](https');
  expect(shownByTeams(card)[0]).toBe(
    'Webhook 7 (CREATE_ORDER and 1 more) of A & B <!channel> @here *x* `z` ~w~ _v_ u_t [y](https://evil.example)  Second is failing',
  );
  expect(JSON.parse(text)).toMatchObject({ eshop: { name }, lastError: foreign.lastError });
  for (const body of [text, card]) expect(body).not.toContain('secret-path');
});

test('the checkers of this test refuse active markup', () => {
  expect(() => shownBySlack('{"blocks":[]}')).toThrow();
  expect(() => shownBySlack('{"text":"<!channel>"}')).toThrow();
  expect(() => shownByMattermost('{"text":"x","Type":"system"}')).toThrow();
  expect(() => shownByMattermost('{"text":"@all"}')).toThrow();
  for (const shown of [shownBySlack, shownByMattermost])
    for (const marked of ['*x*', 'a `x y` b', '~x~', '(_x_)'])
      expect(() => shown(JSON.stringify({ text: marked })), marked).toThrow();
  expect(() => shownByMattermost('{"text":"[x](https://evil.example)"}')).toThrow();
  expect(() => shownByTeams('{"text":"x"}')).toThrow();
});
