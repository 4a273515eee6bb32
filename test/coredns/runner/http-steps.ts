/**
 * The steps `http` and `metrics`.
 */
import { request } from 'node:http';
import { type CasePlaces, clean } from './case-text.ts';
import type { HttpStep, Step, StepResult } from './recorded-case.ts';

export function askHttp(
  { path, host = '127.0.0.1', method = 'GET', wait = 5 }: HttpStep,
  port: number,
): Promise<StepResult> {
  return new Promise((resolve) => {
    const options = {
      host: host.replace(/^\[|\]$/g, ''),
      port,
      path,
      method,
      timeout: wait * 1000,
      agent: false,
    };
    const sent = request(options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode, body }));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', (error) =>
      resolve({ error: 'code' in error && error.code === 'ECONNREFUSED' ? 'refused' : 'failed' }),
    );
    sent.end();
  });
}

/** Each family as sorted lines; the buckets of a histogram make one line. */
export async function readFamilies(
  { host, families }: NonNullable<Step['metrics']>,
  port: number,
  places: CasePlaces,
): Promise<StepResult> {
  const { body, error } = await askHttp(
    { port, path: '/metrics', ...(host !== undefined && { host }) },
    port,
  );
  if (typeof body !== 'string') return { error };
  return Object.fromEntries(families.map((family) => [family, readFamily(body, family, places)]));
}

function readFamily(text: string, family: string, places: CasePlaces): readonly string[] {
  const lines: string[] = [];
  const buckets = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, name = '', labelText = '', number = ''] =
      /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const suffix = name.startsWith(family) ? name.slice(family.length) : undefined;
    if (suffix === undefined || !['', '_bucket', '_sum', '_count'].includes(suffix)) continue;
    const labels = readLabels(labelText, family, places);
    const isTime = (family.includes('duration') && suffix !== '_count') || family.includes('timestamp');
    if (suffix !== '_bucket') {
      lines.push(`${name}{${joinLabels(labels)}} ${isTime ? '*' : number}`);
      continue;
    }
    const rest = joinLabels(labels.filter(([label]) => label !== 'le'));
    const bound = labels.find(([label]) => label === 'le')?.[1] ?? '';
    buckets.set(rest, [...(buckets.get(rest) ?? []), isTime ? bound : `${bound}:${number}`]);
  }
  const joined = [...buckets]
    .sort()
    .map(([labels, counts]) => `${family}_bucket{${labels}} ${counts.join(' ')}`);
  return [...lines.sort(), ...joined];
}

type Label = readonly [string, string];

function readLabels(text: string, family: string, places: CasePlaces): readonly Label[] {
  return [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
    .map(([, label = '', value = '']): Label => {
      const isOurs = family.endsWith('build_info') && label !== 'version';
      const isHash = label === 'value' && family.includes('version_info');
      return [label, isOurs || isHash ? '*' : clean(value, places)];
    })
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

function joinLabels(labels: readonly Label[]): string {
  return labels.map(([label, value]) => `${label}="${value}"`).join(',');
}
