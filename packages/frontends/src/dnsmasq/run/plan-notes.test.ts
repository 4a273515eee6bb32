import { expect, it } from 'vitest';
import { readPlan } from '../settings/testing/read-plan.ts';
import { notesOnPlan } from './plan-notes.ts';

it.each([
  ['', true, []],
  ['port-limit=4', false, ['--port-limit']],
  ['bind-dynamic', true, ['--user']],
  ['interface=eth0', true, ['--user']],
  ['nftset=/a/t#s', true, ['--nftset']],
  ['nftset=/a/t#s', false, []],
  ['interface=eth0\nbind-interfaces', true, []],
  ['bind-dynamic', false, []],
  ['bind-dynamic\nuser=root', true, []],
  ['bind-dynamic\nport=5353', true, []],
])('%j as root: %j', (lines, isRoot, where) => {
  expect(notesOnPlan(readPlan(lines), isRoot).map((note) => note.where)).toEqual(where);
});
