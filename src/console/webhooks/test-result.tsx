/** A test of a webhook: request and response, side by side. */
import type { TestDeliveryResult } from '../../domain/test-delivery.ts';
import { Badge } from '../badges.tsx';
import { Code, headerLines, pretty } from '../parts.tsx';
import { duration } from '../times.tsx';

const TONES = { success: 'good', failure: 'bad', gone: 'bad', inconclusive: 'warn' } as const;

export function TestResultCard({ result }: { result: TestDeliveryResult }) {
  const { request, response, outcome, durationMs, error } = result;
  return (
    <section class="card" aria-labelledby="test-result" role="status">
      <div class="top">
        <h2 id="test-result">Test</h2>
        <p class="acts">
          <span class="quiet">{duration(durationMs)}</span>
          <Badge tone={TONES[outcome]}>{outcome}</Badge>
        </p>
      </div>
      {error === null ? null : <p class="wrap">{error}</p>}
      <div class="two">
        <div class="stack">
          <h3>Request</h3>
          <Code text={`${request.method} ${request.url}`} named="Method and URL" fold />
          <Code text={headerLines(request.headers)} named="Request headers" fold />
          {request.body === null ? (
            <p class="quiet">No body.</p>
          ) : (
            <Code text={pretty(request.body)} named="Request body" />
          )}
        </div>
        <div class="stack">
          <h3>Response</h3>
          {response === null ? (
            <p class="quiet">No response.</p>
          ) : (
            <>
              <Code text={`HTTP ${response.status}`} named="Response status" />
              {Object.keys(response.headers).length === 0 ? null : (
                <Code text={headerLines(response.headers)} named="Response headers" fold />
              )}
              {response.excerpt === null || response.excerpt === '' ? (
                <p class="quiet">No body.</p>
              ) : (
                <Code text={response.excerpt} named="Response body" fold />
              )}
            </>
          )}
        </div>
      </div>
    </section>
  );
}
