/**
 * What fails, and why? Failures of the last minute by cause.
 */
import type { PageState } from '@portolan/ops/dashboard/page-state.ts';
import { explainAddress } from '../state.ts';

export function Fails({ state: { failures } }: { readonly state: PageState }) {
  return (
    <>
      <h1>What fails, and why?</h1>
      <p class="faint">Answers of the last minute without records, or with an error, by their reason.</p>
      {failures.length === 0 && <p>Nothing failed in the last minute.</p>}
      {failures.map(({ cause, count, names }) => (
        <section key={cause} class="panel">
          <h2>
            {cause} <span class="faint">{count}</span>
          </h2>
          <table>
            <thead>
              <tr>
                <th scope="col">name</th>
                <th scope="col" class="number">
                  queries
                </th>
              </tr>
            </thead>
            <tbody>
              {names.map((each) => (
                <tr key={`${each.name} ${each.type}`}>
                  <td>
                    <a href={explainAddress(each.name, each.type)}>{each.name}</a> {each.type}
                  </td>
                  <td class="number">{each.count}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </>
  );
}
