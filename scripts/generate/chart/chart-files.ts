/**
 * The files of the Helm chart that are made from the table of its values.
 */
import { stringify } from 'yaml';
import { CHART_VALUES, type ChartValue, type ValueSchema } from './values.ts';

interface Branch {
  readonly branches: Map<string, Branch>;
  leaf?: ChartValue;
}

function makeTree(values: readonly ChartValue[]): Branch {
  const root: Branch = { branches: new Map() };
  for (const value of values) {
    let branch = root;
    for (const part of value.key.split('.')) {
      const next = branch.branches.get(part) ?? { branches: new Map() };
      branch.branches.set(part, next);
      branch = next;
    }
    branch.leaf = value;
  }
  return root;
}

/** values.yaml, with the text of each value before it. */
export function valuesFile(): string {
  const lines = ['# Made from scripts/generate/chart/values.ts by `npm run docs`.'];
  writeBranch(makeTree(CHART_VALUES), '', lines);
  return `${lines.join('\n')}\n`;
}

function writeBranch({ branches }: Branch, indent: string, lines: string[]): void {
  for (const [name, branch] of branches) {
    const { leaf } = branch;
    if (leaf === undefined) {
      lines.push(`${indent}${name}:`);
      writeBranch(branch, `${indent}  `, lines);
    } else {
      lines.push(`${indent}# ${leaf.text}.`);
      const text = stringify({ [name]: leaf.default }, { lineWidth: 0 }).trimEnd();
      lines.push(...text.split('\n').map((line) => `${indent}${line}`));
    }
  }
}

/** values.schema.json: an unknown key is an error. */
export function schemaFile(): string {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart portolan',
    ...makeSchema(makeTree(CHART_VALUES)),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function makeSchema({ branches, leaf }: Branch): ValueSchema {
  if (leaf !== undefined) return { description: leaf.text, ...leaf.schema };
  const properties = Object.fromEntries([...branches].map(([name, branch]) => [name, makeSchema(branch)]));
  return { type: 'object', additionalProperties: false, properties };
}

/** The table of README.md. */
export function valuesTable(): string {
  const rows = CHART_VALUES.map(({ key, default: fallback, text }) => {
    const shown = JSON.stringify(fallback);
    const short = shown.length > 40 ? 'see `values.yaml`' : `\`${shown}\``;
    return `| \`${key}\` | ${short} | ${text}. |`;
  });
  return ['| value | default | meaning |', '|---|---|---|', ...rows, ''].join('\n');
}
