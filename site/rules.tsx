/** The rules that every operation shares: the sections of the OpenAPI document's description, each a page. */
import { CodeBlock } from './code-view.tsx';
import { SectionHeading } from './layout.tsx';
import { blocks } from './markdown.ts';
import {
  loginWithCurl,
  receiverWithKit,
  verifyServiceSignature,
  verifyStandardSignature,
  verifyWithLibrary,
} from './receiver-code.ts';

interface Rule {
  readonly title: string;
  readonly text: string;
}

export function rulesOf(description: string): Rule[] {
  return description
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = '', ...lines] = section.split('\n');
      return { title, text: lines.join('\n').trim() };
    });
}

function Login() {
  return <CodeBlock language="bash" text={loginWithCurl} />;
}

function Receive() {
  return (
    <>
      <SectionHeading id="receive" title="Receive" />
      <p>
        With the package <code>@waybill-hq/receiver</code>, which the operator has: it verifies the signature,
        handles each delivery once, and finds deliveries that never arrived. It has recipes for Python, PHP,
        Go, Java and Ruby, and test vectors for your own receiver.
      </p>
      <CodeBlock language="javascript" text={receiverWithKit} />
    </>
  );
}

function Verify() {
  return (
    <>
      <SectionHeading id="verify-x-service-signature" title="X-Service-Signature, on POST and GET" />
      <CodeBlock language="javascript" text={verifyServiceSignature} />
      <SectionHeading id="verify-webhook-signature" title="webhook-signature, on POST" />
      <CodeBlock language="javascript" text={verifyWithLibrary} />
      <p>Or without a library:</p>
      <CodeBlock language="javascript" text={verifyStandardSignature} />
    </>
  );
}

const code: Readonly<Record<string, () => ReturnType<typeof Login>>> = {
  Authentication: Login,
  'What a receiver gets': Receive,
  'How to verify a signature': Verify,
};

export function RulePage({ rule: { title, text } }: { rule: Rule }) {
  const Code = code[title];
  return (
    <>
      <h1>{title}</h1>
      {blocks(text)}
      {Code === undefined ? null : <Code />}
    </>
  );
}
