/**
 * What is asked right now? Queries of all replicas as they are answered, newest first.
 */
import { useEffect, useState } from 'preact/hooks';
import { QueryForm } from '../query-form.tsx';
import { explainAddress, type NumberedQuery, type Tail, useLiveQueries } from '../state.ts';

const FILTERS = [
  { field: 'namespace', label: 'Namespace', hint: 'shop' },
  { field: 'client', label: 'Client', hint: '10.244.0.0/16' },
  { field: 'name', label: 'Name, and below', hint: 'example.com' },
  { field: 'type', label: 'Types', hint: 'A AAAA' },
  { field: 'rcode', label: 'Results', hint: 'NXDOMAIN' },
  { field: 'reason', label: 'Reasons', hint: 'no-such-service' },
  { field: 'source', label: 'Sources', hint: 'cluster cache' },
] as const;
const PAUSE_KEY = 'p';

export function LiveQueries({ query }: { readonly query: URLSearchParams }) {
  const [isPaused, setIsPaused] = useState(false);
  const tail = useLiveQueries(query, isPaused);
  useEffect(() => {
    const toggle = ({ key, target, ctrlKey, altKey, metaKey }: KeyboardEvent) => {
      if (key !== PAUSE_KEY || ctrlKey || altKey || metaKey || target instanceof HTMLInputElement) return;
      setIsPaused((before) => !before);
    };
    document.addEventListener('keydown', toggle);
    return () => document.removeEventListener('keydown', toggle);
  }, []);
  return (
    <>
      <h1>What is asked right now?</h1>
      <QueryForm page="live" fields={FILTERS} query={query}>
        <button type="submit">Filter</button>
        <button type="button" aria-pressed={isPaused} onClick={() => setIsPaused(!isPaused)}>
          {isPaused ? 'Go on (p)' : 'Pause (p)'}
        </button>
      </QueryForm>
      <p class={tail.error === undefined ? 'faint' : 'bad'}>{describeTail(tail, isPaused)}</p>
      {tail.latest?.problems.map(({ replica, reason }) => (
        <p key={replica} class="bad">
          {replica}: {reason}
        </p>
      ))}
      <Queries queries={tail.queries} hasReplicas={(tail.latest?.replicas ?? 0) > 1} />
    </>
  );
}

function describeTail({ error, latest, queries, leftOut }: Tail, isPaused: boolean): string {
  if (error !== undefined) return error;
  const rest = leftOut === 0 ? '' : ` ${leftOut} were left out: there were too many.`;
  if (isPaused) return `Paused: nothing is watched.${rest}`;
  if (latest === undefined) return 'Asking …';
  const watched = latest.replicas === 1 ? '1 replica' : `${latest.replicas} replicas`;
  return `Watching ${watched}.${queries.length === 0 ? ' No query yet.' : ''}${rest}`;
}

interface QueriesGiven {
  readonly queries: readonly NumberedQuery[];
  /** Whether there are several. */
  readonly hasReplicas: boolean;
}

function Queries({ queries, hasReplicas }: QueriesGiven) {
  const columns = ['time', 'client', 'name', 'result', 'source', 'ms', ...(hasReplicas ? ['replica'] : [])];
  return (
    <table class="queries">
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col" class={column === 'ms' ? 'number' : 'short'}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {queries.map((query) => (
          <Query key={query.number} query={query} hasReplicas={hasReplicas} />
        ))}
      </tbody>
    </table>
  );
}

function Query({ query, hasReplicas }: { readonly query: NumberedQuery; readonly hasReplicas: boolean }) {
  const { time, client, name, type, rcode, answers, source, reason, milliseconds, replica } = query;
  const isGood = rcode === 'NOERROR' && answers > 0;
  const result = rcode === 'NOERROR' && answers === 0 ? 'NODATA' : rcode;
  return (
    <tr>
      <td>
        <time dateTime={time}>{new Date(time).toLocaleTimeString()}</time>
      </td>
      <td {...(!client.includes(':') && { class: 'short' })}>{client}</td>
      <td>
        <a href={explainAddress(name, type)}>{name}</a> {type}
      </td>
      <td class={isGood ? 'good' : 'bad'}>
        {isGood ? '✓' : '✗'} {result}
        {reason !== undefined && ` ${reason}`}
      </td>
      <td class="short">{source}</td>
      <td class="number">{milliseconds.toFixed(1)}</td>
      {hasReplicas && <td class="faint">{replica}</td>}
    </tr>
  );
}
