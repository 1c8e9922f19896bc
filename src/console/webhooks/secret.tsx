/** The signing secret of a webhook, on its page. */
import { Card, Code } from '../parts.tsx';
import { Ago, Time } from '../times.tsx';

/** Shown once. @param use what it is for, in a sentence */
export function NewSecret({ secret, use }: { secret: string; use: string }) {
  return (
    <Card id="secret" title="Signing secret">
      <p>{use} Copy it now: it is never shown again.</p>
      <Code text={secret} named="The new secret" fold />
    </Card>
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
