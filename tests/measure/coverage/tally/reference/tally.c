/* The whole reference: what one step adds. */

int added(int sum, int action)
{
    int more = action;
    if (action > 6) {
        more = 2 * action; /* far away */
    }
    if (sum < 0)
        more = 0; /* never done */
    return sum + more;
}
