/**
 * The plot of queries per second. Its canvas says nothing to a screen reader, so a sentence and a table say it.
 */
import type { Series } from '@portolan/ops/dashboard/page-state.ts';
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';

const HEIGHT = 180;
const ROWS = 15;

export function Plot({ series }: { readonly series: Series }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const isDark = matchMedia('(prefers-color-scheme: dark)');
    const draw = () => {
      plot.current?.destroy();
      plot.current = new UPlot(makeOptions(element), toColumns(series), element);
    };
    const resize = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    draw();
    resize.observe(element);
    isDark.addEventListener('change', draw);
    return () => {
      resize.disconnect();
      isDark.removeEventListener('change', draw);
      plot.current?.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(toColumns(series)), [series]);
  return (
    <>
      <div class="plot" ref={place} role="img" aria-label={describeSeries(series)} />
      <details>
        <summary>As a table</summary>
        <Table series={series} />
      </details>
    </>
  );
}

function toColumns({ times, queries, missing, failed }: Series): UPlot.AlignedData {
  return [[...times], [...queries], [...missing], [...failed]];
}

function makeOptions(element: HTMLElement): UPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = { stroke: colour('--faint'), grid: { stroke: colour('--line'), width: 1 } };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    axes: [axis, axis],
    legend: { live: false },
    series: [
      {},
      { label: 'all', stroke: colour('--accent'), width: 2 },
      { label: 'NXDOMAIN', stroke: colour('--warn'), width: 1, dash: [6, 3] },
      { label: 'failed', stroke: colour('--bad'), width: 2, dash: [2, 2] },
    ],
  };
}

function describeSeries({ queries, failed }: Series): string {
  const last = queries.at(-1) ?? 0;
  const peak = Math.max(0, ...queries);
  return `Queries per second: now ${last}, peak ${peak}; failed: now ${failed.at(-1) ?? 0}, peak ${Math.max(0, ...failed)}`;
}

function Table({ series: { times, queries, missing, failed } }: { readonly series: Series }) {
  const rows = times.map((time, index) => ({
    time,
    values: [queries[index], missing[index], failed[index]],
  }));
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">time</th>
          {['all', 'NXDOMAIN', 'failed'].map((column) => (
            <th key={column} scope="col" class="number">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows
          .slice(-ROWS)
          .reverse()
          .map(({ time, values }) => (
            <tr key={time}>
              <td>{new Date(time * 1000).toLocaleTimeString()}</td>
              {values.map((value, index) => (
                <td key={index} class="number">
                  {value}
                </td>
              ))}
            </tr>
          ))}
      </tbody>
    </table>
  );
}
