/**
 * The part of kustomize that our overlays use: JSON patches that append to lists of the Deployment.
 */
import { expect } from 'vitest';
import { parse } from 'yaml';
import type { DeploymentManifest } from './manifests.ts';

/** A kustomization or a component, as far as it is read here. */
export interface Kustomization {
  readonly kind: string;
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly {
    readonly target: { readonly kind: string; readonly name: string };
    readonly patch: string;
  }[];
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

/** @returns the Deployment with all patches in it; the one that is given stays as it is */
export function patchDeployment(
  deployment: DeploymentManifest,
  { patches = [] }: Kustomization,
): DeploymentManifest {
  const patched = structuredClone(deployment);
  for (const { target, patch } of patches) {
    expect(target).toEqual({ kind: 'Deployment', name: deployment.metadata.name });
    // Of our own.
    for (const operation of parse(patch) as readonly Operation[]) append(patched, operation);
  }
  return patched;
}

function append(object: unknown, { op, path, value }: Operation): void {
  const [, ...steps] = path.split('/');
  expect([op, steps.pop()]).toEqual(['add', '-']);
  let place = object;
  // A step that leads nowhere ends in undefined, which is no list.
  for (const step of steps) place = (place as Readonly<Record<string, unknown>> | undefined)?.[step];
  if (!Array.isArray(place)) throw new Error(`no list to append to: ${path}`);
  place.push(value);
}
