/* The tool under test of bench_trials.py: takes 50 ms and prints an answer. */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    usleep(50000);
    puts("the answer is 42");
    return 0;
}
