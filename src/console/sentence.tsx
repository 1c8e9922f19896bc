/** A sentence of the API for people: identifiers become links, and times short. */
import { CONSOLE } from './session.ts';
import { Time } from './times.tsx';
import { WebhookLink, type WebhookNames } from './webhooks/name.tsx';

const PARTS =
  /(\bwebhook \d{1,9}\b|\bdelivery [\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b|\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)/i;
/** How much of a delivery's id is shown: its end, since ids of the same time begin alike. */
const ID_CHARS = 6;

export function Sentence({ text, names = new Map() }: { text: string; names?: WebhookNames }) {
  return (
    <>
      {text.split(PARTS).map((part, index) => {
        if (index % 2 === 0) return part;
        const [word = '', id = ''] = part.split(' ');
        if (id === '') return <Time at={part} />;
        if (word.toLowerCase() === 'webhook') return <WebhookLink id={Number(id)} names={names} />;
        return (
          <a href={`${CONSOLE}/deliveries/${id}`}>
            {word} …{id.slice(-ID_CHARS)}
          </a>
        );
      })}
    </>
  );
}
