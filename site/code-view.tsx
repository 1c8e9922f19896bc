/** Code on a page: highlighted, with a copy button, and in several languages to choose from. */
import { highlighted } from './highlight.ts';

export interface Snippet {
  /** Its name if there are several: a language or a file. */
  readonly label: string;
  /** The language of the code, as known to `highlight.ts`. */
  readonly language: string;
  readonly text: string;
}

export function CodeBlock({ language, text }: { language: string; text: string }) {
  return (
    <div class="code">
      <pre tabindex={0}>
        <code>{highlighted(text.trim(), language)}</code>
      </pre>
    </div>
  );
}

/**
 * Works without scripts; with them, the choice holds for all pages.
 * @param id unique on the page
 * @param named the kind of choice
 */
export function Snippets({
  id,
  snippets,
  named = 'Language',
}: {
  id: string;
  snippets: readonly Snippet[];
  named?: string;
}) {
  return (
    <div class="snippets">
      <fieldset>
        <legend class="unseen">{named}</legend>
        {snippets.map(({ label }, index) => (
          <label>
            <input
              type="radio"
              name={id}
              value={label}
              autocomplete="off"
              {...(index === 0 ? { checked: true } : {})}
            />
            {label}
          </label>
        ))}
      </fieldset>
      {snippets.map(({ language, text }) => (
        <CodeBlock language={language} text={text} />
      ))}
    </div>
  );
}
