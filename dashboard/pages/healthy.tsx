/**
 * Is DNS healthy? The verdict, the traffic of the last minutes, and what the checks found.
 */
import type { PageState, ReplicaFinding } from '@portolan/ops/dashboard/page-state.ts';
import { Plot } from '../plot.tsx';

const TONES = { healthy: 'good', degraded: 'warn', broken: 'bad', unknown: 'faint' } as const;
const SIGNS = { healthy: '●', degraded: '▲', broken: '■', unknown: '○' } as const;

export function Healthy({ state }: { readonly state: PageState }) {
  const { health, traffic, findings, checked, notChecked, series } = state;
  const rate = traffic.seconds === 0 ? 0 : traffic.queries / traffic.seconds;
  return (
    <>
      <h1>Is DNS healthy?</h1>
      <section class="panel">
        <p>
          <span class={`word ${TONES[health.word]}`}>
            {SIGNS[health.word]} {health.word}
          </span>{' '}
          <span class="faint">since {new Date(health.since).toLocaleTimeString()}</span>
        </p>
        <p>{health.sentence}</p>
        <p class="faint">
          {state.replicas.length} {state.replicas.length === 1 ? 'replica' : 'replicas'} · {rate.toFixed(1)}{' '}
          queries/s · {(traffic.searched * 100).toFixed(0)} % made by search lists
        </p>
      </section>
      <h2>Queries per second</h2>
      <Plot series={series} />
      <h2>Findings</h2>
      {findings.length === 0 && <p>None: {checked} checks ran.</p>}
      {findings.map((finding) => (
        <Found key={`${finding.kind} ${finding.subject}`} finding={finding} />
      ))}
      {notChecked.length > 0 && (
        <details>
          <summary>{notChecked.length} checks lack evidence</summary>
          <ul>
            {notChecked.map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
          <p>kubectl portolan doctor reads it with your rights.</p>
        </details>
      )}
    </>
  );
}

function Found({ finding }: { readonly finding: ReplicaFinding }) {
  const { kind, severity, sentence, remedies, replicas } = finding;
  return (
    <section class="panel">
      <p>
        <span class={`word ${severity === 'problem' ? 'bad' : 'warn'}`}>
          {severity === 'problem' ? '■' : '▲'} {severity}
        </span>{' '}
        <b>{kind}</b> <span class="faint">{replicas.join(', ')}</span>
      </p>
      <p>{sentence}</p>
      {remedies.map((remedy) => (
        <div key={remedy.sentence}>
          <p>{remedy.sentence}</p>
          {remedy.command !== undefined && <pre>{remedy.command}</pre>}
        </div>
      ))}
    </section>
  );
}
