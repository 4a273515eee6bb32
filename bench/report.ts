/**
 * The result of a benchmark, and its output: tables and goals as plain text, or everything as JSON.
 */
import type { Machine } from './machine.ts';
import { printMachine } from './machine.ts';
import type { Summary } from './statistics.ts';

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Goal {
  readonly what: string;
  readonly value: number;
  /** The value must not be above it. */
  readonly limit: number;
  readonly unit: string;
}

export interface Report {
  readonly measurement: string;
  readonly tables: readonly Table[];
  readonly goals: readonly Goal[];
  /** Every figure of every round. */
  readonly data: unknown;
}

export function isMet(goal: Goal): boolean {
  return goal.value <= goal.limit;
}

export function printReport(report: Report, machine: Machine): string {
  const { measurement, tables, goals } = report;
  const heading = `${measurement}: ${printMachine(machine)}`;
  return [heading, ...tables.map(printTable), ...printGoals(goals)].join('\n\n');
}

function printGoals(goals: readonly Goal[]): readonly string[] {
  if (goals.length === 0) return [];
  const rows = goals.map((goal) => [
    goal.what,
    printWithUnit(goal.value, goal.unit),
    printWithUnit(goal.limit, goal.unit),
    isMet(goal) ? 'met' : 'NOT MET',
  ]);
  return [printTable({ title: 'Goals', columns: ['', 'measured', 'at most', ''], rows })];
}

function printWithUnit(value: number, unit: string): string {
  return `${value.toFixed(2)} ${unit}`.trim();
}

/** The first column to the left, figures to the right. */
export function printTable({ title, columns, rows }: Table): string {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const printRow = (row: readonly string[]) =>
    row
      .map((cell, index) =>
        index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [title, printRow(columns), rule, ...rows.map(printRow)].join('\n');
}

/** `3.05 (3.01-3.22)`: the median, and between what the rounds lay. */
export function printSummary({ median, min, max }: Summary, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}-${max.toFixed(digits)})`;
}
