/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Code on a page: coloured, with a button that copies it, and in several languages behind one choice. */
import { highlighted } from './highlight.ts';

export interface Snippet {
  /** What it is called where there are several: a language or a file. */
  readonly label: string;
  /** Of the code, as `highlight.ts` knows it. */
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
 * Works without script; with it, the choice holds for all pages.
 * @param id unique on the page
 * @param named what is chosen
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
