import { expect, it } from 'vitest';
import { DEFAULT_FORWARD_PLAN } from '../forward-plan.ts';
import { RoundTrip } from './round-trip.ts';
import { UpstreamHealth } from './upstream-health.ts';

function makeHealth() {
  return new UpstreamHealth(new RoundTrip(DEFAULT_FORWARD_PLAN.timing), () => {});
}

it('is silent after two questions in a row that another server answered', () => {
  const health = makeHealth();
  health.overdue(0, 400);
  health.outrun();
  expect(health.state.kind).toBe('failing');
  health.outrun();
  expect(health.state.kind).toBe('silent');
  health.heard(5, 900);
  expect(health.state.kind).toBe('well');
});

it('is not if a reply came between them', () => {
  const health = makeHealth();
  for (const at of [0, 1000, 2000]) {
    health.overdue(at, at + 400);
    health.outrun();
    expect(health.state.kind).toBe('failing');
    health.heard(5, at + 500);
  }
});

it('takes more of them where queries are lost', () => {
  const health = makeHealth();
  health.losses.noteLost(20);
  health.losses.noteAnswered(20);
  health.overdue(0, 400);
  for (let turn = 0; turn < 9; turn += 1) health.outrun();
  expect(health.state.kind).toBe('failing');
  health.outrun();
  expect(health.state.kind).toBe('silent');
});
