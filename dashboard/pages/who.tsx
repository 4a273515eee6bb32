/**
 * Who asks what? The most frequent clients, namespaces and names of the last minute.
 */
import type { TopRow } from '@portolan/ops/control/top-counts.ts';
import type { PageState } from '@portolan/ops/dashboard/page-state.ts';
import { atLeast, describeCount } from '@portolan/server/observe/statistics/space-saving.ts';
import { explainAddress } from '../state.ts';

export function Who({ state: { traffic } }: { readonly state: PageState }) {
  const { queries, lost, seconds, sampling } = traffic;
  return (
    <>
      <h1>Who asks what?</h1>
      <p class="faint">
        {queries} queries in the last {Math.round(seconds)} s
        {lost > 0 && `, and ${lost} that were not counted`}
        {sampling > 1 && `; 1 of ${sampling} was counted`}. Each table adds the 50 most frequent of every 2 s
        of each replica.
      </p>
      <div class="columns">
        <Rows title="Namespaces" rows={traffic.namespaces} total={queries} />
        <Rows title="Clients" rows={traffic.clients} total={queries} />
        <Rows title="Names" rows={traffic.names} total={queries} isNames />
        <Rows title="Results" rows={traffic.rcodes} total={queries} />
        <Rows title="Sources" rows={traffic.sources} total={queries} />
        <Rows title="Made by search lists" rows={traffic.searches} total={queries} />
      </div>
    </>
  );
}

interface RowsGiven {
  readonly title: string;
  readonly rows: readonly TopRow[];
  readonly total: number;
  readonly isNames?: boolean;
}

function Rows({ title, rows, total, isNames = false }: RowsGiven) {
  return (
    <section>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="faint">Nothing in the last minute.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">{title}</th>
              <th scope="col" class="number">
                queries
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, 20).map((row) => (
              <tr key={row.what}>
                <td>
                  {isNames ? <Named what={row.what} /> : row.what}
                  <span
                    class="bar"
                    style={{ width: `${Math.min(100, (atLeast(row) / Math.max(total, 1)) * 100)}%` }}
                  />
                </td>
                <td class="number">{describeCount(row)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Named({ what }: { readonly what: string }) {
  const [name = '', type = ''] = what.split(' ');
  return (
    <>
      <a href={explainAddress(name, type)}>{name}</a> {type}
    </>
  );
}
