import type { PackedPackage } from '../packed-package.ts'

/** What a check found. */
export interface Finding {
  /** What is wrong, and what to do. Empty when all is well. */
  readonly problems: readonly string[]
  /** Figures worth a line even when all is well. */
  readonly notes: readonly string[]
}

/** One thing that must hold for the packed package. */
export interface PackageCheck {
  readonly title: string
  run(packed: PackedPackage): Promise<Finding>
}
