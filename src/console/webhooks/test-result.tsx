/** A test of a webhook: request and response, side by side. */
import { duration } from '../../domain/duration.ts';
import type { TestDeliveryResult } from '../../domain/test-delivery.ts';
import { headerLines } from '../../domain/text.ts';
import { Badge } from '../badges.tsx';
import { Code, pretty } from '../parts.tsx';

const TONES = { success: 'good', failure: 'bad', gone: 'bad', inconclusive: 'warn' } as const;

export function TestResultCard({ result }: { result: TestDeliveryResult }) {
  const { request, response, outcome, durationMs, error } = result;
  return (
    <section class="card" aria-labelledby="test-result" role="status">
      <div class="top">
        <h2 id="test-result">Test</h2>
        <p class="actions">
          <span class="quiet">{duration(durationMs)}</span>
          <Badge tone={TONES[outcome]}>{outcome}</Badge>
        </p>
      </div>
      {error === null ? null : <p class="wrap">{error}</p>}
      <div class="two">
        <div class="stack">
          <h3>Request</h3>
          <Code text={`${request.method} ${request.url}`} label="Method and URL" fold />
          <Code text={headerLines(request.headers)} label="Request headers" fold />
          {request.body === null ? (
            <p class="quiet">No body.</p>
          ) : (
            <Code text={pretty(request.body)} label="Request body" />
          )}
        </div>
        <div class="stack">
          <h3>Response</h3>
          {response === null ? (
            <p class="quiet">No response.</p>
          ) : (
            <>
              <Code text={`HTTP ${response.status}`} label="Response status" />
              {Object.keys(response.headers).length === 0 ? null : (
                <Code text={headerLines(response.headers)} label="Response headers" fold />
              )}
              {response.excerpt === null || response.excerpt === '' ? (
                <p class="quiet">No body.</p>
              ) : (
                <Code text={response.excerpt} label="Response body" fold />
              )}
            </>
          )}
        </div>
      </div>
    </section>
  );
}
