/**
 * What changed? One list of all replicas, newest first.
 */
import type { PageState } from '@portolan/ops/dashboard/page-state.ts';
import { Plot } from '../plot.tsx';

export function Changes({ state: { changes, series } }: { readonly state: PageState }) {
  return (
    <>
      <h1>What changed?</h1>
      <p class="faint">Since the dashboard was opened, as far as it was looked at.</p>
      <Plot series={series} />
      {changes.length === 0 && <p>Nothing yet.</p>}
      <ul>
        {changes.map(({ at, replica, kind, sentence }, index) => (
          <li key={changes.length - index}>
            <time dateTime={at}>{new Date(at).toLocaleTimeString()}</time> <b>{kind}</b> {replica}: {sentence}
          </li>
        ))}
      </ul>
    </>
  );
}
