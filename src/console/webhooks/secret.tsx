/** The signing secret of a webhook, on its page. */
import { Code } from '../parts.tsx';
import { Ago, Time } from '../times.tsx';

/** Shown once. @param use what it is for, in a sentence */
export function NewSecret({ secret, use }: { secret: string; use: string }) {
  return (
    <section class="card" aria-labelledby="secret">
      <h2 id="secret">Signing secret</h2>
      <p>{use} Copy it now: it is never shown again.</p>
      <Code text={secret} named="The new secret" fold />
    </section>
  );
}

/** While the former secret signs, too. */
export function Overlap({ until }: { until: string | null }) {
  if (until === null) return null;
  return (
    <p class="note">
      The previous secret is also used for signing until <Time at={until} /> (<Ago at={until} />
      ).
    </p>
  );
}
