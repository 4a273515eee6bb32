/**
 * Replicas compared: a row for each, and a word beside each cell that differs from the others.
 */
import type { PageState } from '@portolan/ops/dashboard/page-state.ts';

export function Replicas({ state: { replicas } }: { readonly state: PageState }) {
  const columns = replicas[0]?.cells.map(({ column }) => column) ?? [];
  return (
    <>
      <h1>Replicas compared</h1>
      {replicas.length === 0 && <p>No replica was found yet.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard */}
      <section class="wide" aria-label="Replicas compared" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">replica</th>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {replicas.map(({ name, error, cells }) => (
              <tr key={name}>
                <th scope="row">
                  {name}
                  {error !== undefined && <div class="bad">{error}</div>}
                </th>
                {cells.map(({ column, value, note }) => (
                  <td key={column}>
                    {value}
                    {note !== undefined && <div class="warn">▲ {note}</div>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
