export default function Page() {
  return <p>log in</p>
}
