import { pathOf } from '../route.ts'
import { Link } from './link.tsx'
import { Name } from './text.tsx'

interface UserReference {
  /** An account or a wallet address; empty for no user. */
  readonly user?: string
  /** Unknown in most rows. */
  readonly platform?: string | undefined
  readonly pid: string
}

/** Stands for a platform or a campaign that a row does not have. The server finds the user by the rest. */
const ANY = '*'

/** A link to the page of a user. */
export const UserLink = ({ user, platform, pid }: UserReference) =>
  user ? (
    <Link to={pathOf('users', pid || ANY, platform || ANY, user)}>
      <Name>{user}</Name>
    </Link>
  ) : null
