/** The columns of a list. Other columns are ignored. */
export const COLUMNS = ['address', 'xp', 'id', 'reason', 'pid'] as const
export type Column = (typeof COLUMNS)[number]

/** The headings of columns with other names than in {@link COLUMNS}: `--columns`. */
export type ColumnNames = Readonly<Partial<Record<Column, string>>>
