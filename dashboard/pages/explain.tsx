/**
 * Explain a name: each question that a client's resolver asks, with its answer and the reason, by every replica.
 */
import type { ExplainedByReplica } from '@portolan/ops/dashboard/page-state.ts';
import type { ExplainedStep, Explanation } from '@portolan/server/reasons/explanation.ts';
import { useEffect, useState } from 'preact/hooks';
import { QueryForm } from '../query-form.tsx';
import { explain } from '../state.ts';

const FIELDS = [
  { field: 'name', label: 'Name', hint: 'cart.shop' },
  { field: 'type', label: 'Types', hint: 'A AAAA' },
  { field: 'namespace', label: 'Namespace of the client', hint: 'default' },
  { field: 'from', label: 'Address of the client', hint: '10.244.1.7' },
] as const;

type Shown =
  | { readonly kind: 'nothing' | 'asking' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'explained'; readonly explained: readonly ExplainedByReplica[] };

/** @param isReady whether replicas are known */
export function Explain({ query, isReady }: { readonly query: URLSearchParams; readonly isReady: boolean }) {
  const [shown, setShown] = useState<Shown>({ kind: 'nothing' });
  const text = query.toString();
  useEffect(() => {
    let isOver = false;
    const show = (next: Shown) => void (isOver || setShown(next));
    if ((query.get('name') ?? '') === '' || !isReady) show({ kind: 'nothing' });
    else {
      show({ kind: 'asking' });
      explain(query).then(
        (explained) => show({ kind: 'explained', explained }),
        (error: unknown) =>
          show({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) }),
      );
    }
    return () => {
      isOver = true;
    };
  }, [text, isReady]);
  return (
    <>
      <h1>Explain a name</h1>
      <QueryForm page="explain" fields={FIELDS} query={query}>
        <button type="submit">Explain</button>
        <button type="submit" name="ask" value="1">
          … and ask upstream
        </button>
      </QueryForm>
      <div aria-live="polite">
        {shown.kind === 'asking' && <p class="faint">Asking the replicas …</p>}
        {shown.kind === 'failed' && <p class="bad">{shown.reason}</p>}
        {shown.kind === 'explained' && <Explained explained={shown.explained} />}
      </div>
    </>
  );
}

function Explained({ explained }: { readonly explained: readonly ExplainedByReplica[] }) {
  const groups = new Map<string, ExplainedByReplica[]>();
  for (const each of explained) {
    const said = each.explanation === undefined ? `? ${each.error}` : verdictText(each.explanation);
    groups.set(said, [...(groups.get(said) ?? []), each]);
  }
  if (explained.length === 0) return <p>No replica was found.</p>;
  return (
    <>
      <p class={groups.size > 1 ? 'bad' : 'faint'}>
        {groups.size > 1
          ? 'The replicas do not say the same.'
          : `${explained.length} of ${explained.length} say the same.`}
      </p>
      {[...groups].map(([said, [first, ...others]]) => (
        <section key={said} class="panel">
          <p class="faint">{[first, ...others].map((each) => each?.replica).join(', ')}</p>
          {first?.explanation === undefined ? (
            <p class="bad">{first?.error}</p>
          ) : (
            <Walk explanation={first.explanation} />
          )}
        </section>
      ))}
    </>
  );
}

function verdictText({ verdict }: Explanation): string {
  return `${verdict.sentence} ${[...verdict.addresses].sort().join(' ')}`;
}

const TONES = { resolves: 'good', fails: 'bad', unknown: 'warn' } as const;
const SIGNS = { resolves: '✓', fails: '✗', unknown: '?' } as const;

function Walk({ explanation }: { readonly explanation: Explanation }) {
  const { verdict, client, steps, otherResolvers, remedies, notChecked } = explanation;
  return (
    <>
      <p class={TONES[verdict.outcome]} data-verdict={verdict.outcome}>
        <b>
          {SIGNS[verdict.outcome]} {verdict.sentence}
        </b>
      </p>
      <p class="faint">
        client in {client.namespace}, search {client.search.join(' ')}, ndots {client.ndots} ({client.source})
      </p>
      <ol>
        {steps.map((step) => (
          <Step key={step.number} step={step} />
        ))}
      </ol>
      {otherResolvers.map(({ resolver, sentence }) => (
        <p key={resolver}>
          {resolver}: {sentence}
        </p>
      ))}
      {remedies.map(({ sentence, command }) => (
        <div key={sentence}>
          <p>{sentence}</p>
          {command !== undefined && <pre>{command}</pre>}
        </div>
      ))}
      {notChecked.map((each) => (
        <p key={each} class="faint">
          not checked: {each}
        </p>
      ))}
    </>
  );
}

function Step({ step }: { readonly step: ExplainedStep }) {
  const { name, type, rcode, outcome, isReached, source, records, sentence, near = [], plugin } = step;
  const result = outcome === 'nodata' ? 'NODATA' : (rcode ?? 'not asked');
  return (
    <li>
      <code>
        {name} {type}
      </code>{' '}
      {isReached ? (
        <b class={outcome === 'answer' ? 'good' : 'bad'}>
          {outcome === 'answer' ? '✓' : '✗'} {result}
        </b>
      ) : (
        <span class="faint">– not reached</span>
      )}{' '}
      <span class="faint">
        {source}
        {plugin !== undefined && `, ${plugin}`}
      </span>
      {sentence !== undefined && <div>{sentence}</div>}
      {records.length > 0 && <pre>{records.join('\n')}</pre>}
      {near.length > 0 && (
        <div>near: {near.map(({ service, namespace }) => `${service}.${namespace}`).join(', ')}</div>
      )}
    </li>
  );
}
