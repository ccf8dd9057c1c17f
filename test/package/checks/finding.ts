import type { PackedPackage } from '../packed-package.ts'

/** The result of a check. */
export interface Finding {
  /** The failures, each with a solution. */
  readonly problems: readonly string[]
  /** Figures to print. */
  readonly notes: readonly string[]
}

/** A check of the packed package. */
export interface PackageCheck {
  readonly title: string
  run(packed: PackedPackage): Promise<Finding>
}
