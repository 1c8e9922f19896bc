/** A mail as paragraphs, facts and requests, from which both its text and its HTML are made. */
import { anchor, oneLine } from '../domain/text.ts';
import type { Mail } from './mail.ts';

/** A request to the API that the reader may want to make. */
interface ApiRequest {
  /** The operation, as in the documentation: `PUT /v21/webhooks/{id}/activate`. */
  readonly request: string;
  /** The value of its `{id}`. */
  readonly id?: number | string;
  /** Its query, with the question mark. */
  readonly query?: string;
  /** Its body, as JSON. */
  readonly body?: string;
}

export type MailBlock =
  | string
  | { readonly facts: readonly (readonly [name: string, value: string])[] }
  | ApiRequest
  /** A link to one of our pages, with its path. */
  | { readonly link: string; readonly label: string };

export interface MailContent {
  readonly to: string;
  readonly subject: string;
  readonly messageId: string;
  /** The severity: something has ended (`bad`), is about to (`warning`), or neither (`good`). */
  readonly tone: 'bad' | 'warning' | 'good';
  readonly blocks: readonly MailBlock[];
}

/** Several mails of one kind to one person as one: only the first gives the advice. @param contents at least one */
export function mergeMails([first, ...others]: readonly MailContent[]): MailContent {
  if (first === undefined) throw new RangeError('There is nothing to mail.');
  if (others.length === 0) return first;
  const facts = others.flatMap(({ subject, blocks }) => [
    `${subject}:`,
    ...blocks.filter((block) => typeof block === 'object' && 'facts' in block),
  ]);
  const more = 'The same happened to others within a short time. This mail covers them, too:';
  return {
    ...first,
    subject: `${first.subject}, and ${others.length} more`,
    blocks: [...first.blocks, more, ...facts],
  };
}

const FOOTER = 'This message was sent by Waybill. Replies are not monitored.';

/** @param publicUrl of the API, without a trailing slash; null if unknown: only paths are named then */
export function mailOf(content: MailContent, publicUrl: string | null): Mail {
  const { to, subject, messageId } = content;
  return { to, subject, messageId, text: textOf(content, publicUrl), html: htmlOf(content, publicUrl) };
}

function textOf({ blocks }: MailContent, publicUrl: string | null): string {
  const documentation = publicUrl === null ? [] : [`Documentation: ${publicUrl}/docs`];
  const texts = [...blocks, ...documentation, FOOTER].map((block) => {
    if (typeof block === 'string') return block;
    if ('facts' in block) return factsInText(block.facts);
    if ('link' in block) return `  ${publicUrl ?? ''}${block.link}`;
    return `  ${requestLine(block, publicUrl)}`;
  });
  return `${texts.join('\n\n')}\n`;
}

function factsInText(facts: readonly (readonly [string, string])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length)) + 3;
  return facts.map(([name, value]) => `  ${`${name}:`.padEnd(width)}${oneLine(value)}`).join('\n');
}

function requestLine({ request, id, query = '', body }: ApiRequest, publicUrl: string | null): string {
  const [method, path] = request.replace('{id}', String(id)).split(' ');
  return `${method} ${publicUrl ?? ''}${path}${query}${body === undefined ? '' : ` ${body}`}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for HTML, between tags and in double quotes. */
const escapeHtml = (text: string) => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? '');

const COLORS = { bad: '#b42318', warning: '#b54708', good: '#067647' } as const;
/** Long addresses and errors break anywhere rather than widen the page on a phone. */
const BREAKS = 'overflow-wrap:anywhere;word-break:break-word';

function htmlOf({ subject, tone, blocks }: MailContent, publicUrl: string | null): string {
  const rendered = blocks.map((block) => {
    if (typeof block === 'string') return `<p style="margin:0 0 16px;${BREAKS}">${escapeHtml(block)}</p>`;
    if ('facts' in block) return factsInHtml(block.facts);
    if ('link' in block) return linkInHtml(`${publicUrl ?? ''}${block.link}`, block.label);
    return requestInHtml(block, publicUrl);
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>${escapeHtml(subject)}</title>
</head>
<body style="margin:0;padding:16px;background:#f2f4f7;color:#1d2939;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
<div style="max-width:600px;margin:0 auto;padding:24px;box-sizing:border-box;background:#ffffff;border:1px solid #d0d5dd;border-top:4px solid ${COLORS[tone]};border-radius:6px">
<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3;color:${COLORS[tone]};${BREAKS}">${escapeHtml(subject)}</h1>
${rendered.join('\n')}
<p style="margin:24px 0 0;padding-top:12px;border-top:1px solid #eaecf0;font-size:13px;color:#667085">${FOOTER}</p>
</div>
</body>
</html>
`;
}

function factsInHtml(facts: readonly (readonly [string, string])[]): string {
  const rows = facts.map(
    ([name, value]) =>
      `<tr><th scope="row" style="padding:6px 12px 6px 0;width:112px;text-align:left;vertical-align:top;font-weight:600;border-top:1px solid #eaecf0">${escapeHtml(name)}</th>` +
      `<td style="padding:6px 0;vertical-align:top;border-top:1px solid #eaecf0;${BREAKS}">${escapeHtml(oneLine(value))}</td></tr>`,
  );
  return `<table style="width:100%;margin:0 0 16px;border-collapse:collapse;font-size:15px">\n${rows.join('\n')}\n</table>`;
}

const linkInHtml = (url: string, label: string) =>
  `<p style="margin:0 0 16px"><a href="${escapeHtml(url)}" style="color:#175cd3;font-weight:600">${escapeHtml(label)}</a></p>`;

/** Linked to its documentation: a browser has neither API key nor token for the request itself. */
function requestInHtml(request: ApiRequest, publicUrl: string | null): string {
  const code = `<code style="font:14px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;${BREAKS}">${escapeHtml(requestLine(request, publicUrl))}</code>`;
  const linked =
    publicUrl === null
      ? code
      : `<a href="${escapeHtml(`${publicUrl}/docs/reference/${anchor(request.request)}`)}" style="color:#175cd3">${code}</a>`;
  return `<p style="margin:0 0 16px;padding:8px 12px;background:#f2f4f7;border-radius:4px">${linked}</p>`;
}
