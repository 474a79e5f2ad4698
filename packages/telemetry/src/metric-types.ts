import type { Registry } from "prom-client";

/** A value for each label of a metric except `service`, which is preset. */
export type Labels<Name extends string> = Readonly<Record<Name, string | number>>;

type LabelArgument<Name extends string> = [Name] extends [never] ? [labels?: undefined] : [labels: Labels<Name>];
type IncArguments<Name extends string> = [Name] extends [never]
  ? [labels?: undefined, value?: number]
  : [labels: Labels<Name>, value?: number];

export interface Counter<Name extends string = never> {
  /** Adds `value` (default 1), which is not negative. */
  inc(...labelsAndValue: IncArguments<Name>): void;
}

export interface Gauge<Name extends string = never> {
  set(value: number, ...labels: LabelArgument<Name>): void;
  /** Adds `value`, which may be negative. */
  add(value: number, ...labels: LabelArgument<Name>): void;
  /**
   * `read` is called before each scrape, which waits for it at most 1 s. It sets the gauge itself, or
   * returns the value of a gauge without labels. If it fails, the gauge does not change.
   */
  collect(read: () => unknown): void;
}

export interface Histogram<Name extends string = never> {
  /** Records one value and, inside a recorded span, its trace as an exemplar. */
  observe(value: number, ...labels: LabelArgument<Name>): void;
}

/** Makes metrics, or finds those that another service of the process has made. */
export interface Metrics {
  counter<Name extends string = never>(name: string, help: string, labels?: readonly Name[]): Counter<Name>;
  gauge<Name extends string = never>(name: string, help: string, labels?: readonly Name[]): Gauge<Name>;
  /** `buckets` are upper bounds in the unit of the name, ascending. */
  histogram<Name extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labels?: readonly Name[],
  ): Histogram<Name>;
  readonly registry: Registry;
}
