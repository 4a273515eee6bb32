/**
 * Where Kubernetes Events about findings are written.
 */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

export interface EventsPlan {
  /** The Service of the server, for findings about no other object. */
  readonly service: ObjectName;
  /** The ConfigMap that the server is configured by; undefined: it is not known. */
  readonly configMap: ObjectName | undefined;
}
