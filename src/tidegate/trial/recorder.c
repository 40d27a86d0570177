/*
 * The recorder's wrapper: runs the real target and records each call.
 *
 * It is the interpreter of a script with the target's name: `#!RECORDER`, then BINARY, SEARCH_PATH, RECORD and the
 * variables that are added (NAME=VALUE) or removed (NAME), each ended by a NUL. Where no first line can name it, the script
 * begins with two lines for a shell. The script's path is the first argument. Every text is bytes; no locale is read.
 *
 * The record is a FIFO that Tidegate reads: the recorder can add to it, and cannot take anything back. Each field of an
 * entry ends with a NUL; a NUL comes before the first one, a newline after the last one:
 * `tidegate-call ID STARTED_NS CWD LENGTH`, then the arguments, LENGTH bytes, each of them ended by a NUL;
 * `tidegate-end ID DURATION_NS STATUS`, where STATUS is the exit status, or minus the signal that killed the target.
 * The kernel keeps writes of up to PIPE_BUF bytes whole. A longer entry is written in pieces:
 * `tidegate-part ID MORE SIZE`, then SIZE bytes without a newline; MORE is 0 in the last piece.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHELL_LINE "#!/bin/sh\n"
#define PIECE 3840 /* bytes of an entry in one piece; the rest of PIPE_BUF is for its header */

struct entry {
    char *data;
    size_t size;
};

static void out_of_memory(void)
{
    static const char message[] = "recorder: out of memory\n";
    (void)!write(2, message, sizeof message - 1);
    _exit(126);
}

static void *allocated(size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL)
        out_of_memory();
    return memory;
}

static long long nanoseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void complain(const char *what, const char *why)
{
    char *message = allocated(strlen(what) + strlen(why) + 4);
    int size = sprintf(message, "%s: %s\n", what, why);
    (void)!write(2, message, size);
    free(message);
}

/* Add one entry, in writes that parallel calls cannot mix with. Does nothing if the record has no reader. */
static void note(const char *record, const char *call, const struct entry *entry)
{
    int file = open(record, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return;
    fcntl(file, F_SETFL, O_APPEND); /* from here on: wait while the pipe is full */
    if (entry->size <= PIPE_BUF) {
        (void)!write(file, entry->data, entry->size);
    } else {
        char piece[PIPE_BUF];
        for (size_t start = 0; start < entry->size; start += PIECE) {
            size_t size = entry->size - start < PIECE ? entry->size - start : PIECE;
            int head = sprintf(piece, "%ctidegate-part%c%s%c%d%c%zu%c", 0, 0, call, 0, start + PIECE < entry->size, 0, size, 0);
            memcpy(piece + head, entry->data + start, size);
            if (write(file, piece, head + size) < 0)
                break;
        }
    }
    close(file);
}

static void note_call(const char *record, const char *call, long long epoch, char **arguments)
{
    char *folder = getcwd(NULL, 0);
    size_t listed = 0;
    for (char **one = arguments; *one != NULL; one++)
        listed += strlen(*one) + 1;
    struct entry entry = {allocated(listed + strlen(call) + (folder ? strlen(folder) : 0) + 128), 0};
    entry.size = sprintf(entry.data, "%ctidegate-call%c%s%c%lld%c%s%c%zu%c", 0, 0, call, 0, epoch, 0,
                         folder ? folder : "", 0, listed, 0);
    for (char **one = arguments; *one != NULL; one++) {
        size_t size = strlen(*one) + 1;
        memcpy(entry.data + entry.size, *one, size);
        entry.size += size;
    }
    entry.data[entry.size++] = '\n';
    note(record, call, &entry);
    free(entry.data);
    free(folder);
}

static void note_end(const char *record, const char *call, long long duration, int status)
{
    char data[256];
    int size = sprintf(data, "%ctidegate-end%c%s%c%lld%c%d%c\n", 0, 0, call, 0, duration, 0, status, 0);
    struct entry entry = {data, size};
    note(record, call, &entry);
}

/* Return the real target: `binary` itself if it is a path, else the first match on PATH that is not this script. */
static const char *find(const char *binary, const char *search_path, const char *script)
{
    struct stat this, found;
    if (strchr(binary, '/') != NULL)
        return binary;
    int has_this = stat(script, &this) == 0 && S_ISREG(this.st_mode);
    for (const char *folder = search_path;; folder++) {
        size_t size = strcspn(folder, ":");
        char *path = allocated(size + strlen(binary) + 3);
        sprintf(path, "%.*s/%s", size ? (int)size : 1, size ? folder : ".", binary);
        if (stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, X_OK) == 0
            && !(has_this && found.st_dev == this.st_dev && found.st_ino == this.st_ino))
            return path;
        free(path);
        folder += size;
        if (*folder == '\0')
            return NULL;
    }
}

/* Execute the target with the caller's signal mask. A script without `#!` is run by `sh`, as a shell would. */
static void become(const char *program, char **argv, const sigset_t *mask)
{
    sigprocmask(SIG_SETMASK, mask, NULL);
    execv(program, argv);
    if (errno == ENOEXEC) {
        size_t count = 0;
        while (argv[count] != NULL)
            count++;
        char **words = allocated((count + 2) * sizeof *words);
        words[0] = "sh";
        words[1] = (char *)program;
        memcpy(words + 2, argv + 1, count * sizeof *words);
        execv("/bin/sh", words);
    }
    int error = errno;
    complain(program, strerror(error));
    _exit(error == ENOENT || error == ENOTDIR ? 127 : 126);
}

/* The kernel sends a terminal's signals to the whole process group, so the target has already received these. */
static int is_from_terminal(const siginfo_t *signal)
{
    static const int numbers[] = {SIGINT, SIGQUIT, SIGTSTP, SIGHUP, SIGWINCH, SIGCONT};
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++)
        if (signal->si_code == SI_KERNEL && signal->si_signo == numbers[index])
            return 1;
    return 0;
}

/*
 * Forward signals to the child, stop when it stops, and return its exit status, or minus the signal.
 *
 * It is unknown whether a program sent a signal to this process or to the whole group. In the latter case, the child
 * receives it twice.
 */
static int follow(pid_t child, const sigset_t *every)
{
    for (;;) {
        siginfo_t signal;
        int status;
        if (sigwaitinfo(every, &signal) < 0)
            continue;
        if (signal.si_signo != SIGCHLD) {
            if (!is_from_terminal(&signal))
                kill(child, signal.si_signo);
            continue;
        }
        while (waitpid(child, &status, WNOHANG | WUNTRACED) > 0) {
            if (!WIFSTOPPED(status))
                return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
            kill(getpid(), SIGSTOP);
        }
    }
}

/* Run the target as a child that differs from this process only in its id. */
static int run(const char *program, char **argv, const sigset_t *every, const sigset_t *mask)
{
    /* An ignored SIGCHLD discards the child's status. Set it before the fork: setting it drops a pending one. */
    struct sigaction callers, normal = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &normal, &callers);
    pid_t child = fork();
    if (child == 0) {
        sigaction(SIGCHLD, &callers, NULL);
        become(program, argv, mask);
    }
    if (child < 0) {
        complain(program, strerror(errno));
        return 126;
    }
    return follow(child, every);
}

/* End with the target's exit status or signal, without a core file: the target has already written its own. */
static void leave(int status)
{
    if (status < 0) {
        struct rlimit none = {0, 0};
        struct sigaction normal = {.sa_handler = SIG_DFL};
        sigset_t this;
        setrlimit(RLIMIT_CORE, &none);
        sigaction(-status, &normal, NULL);
        sigemptyset(&this);
        sigaddset(&this, -status);
        sigprocmask(SIG_UNBLOCK, &this, NULL);
        kill(getpid(), -status);
        status = 128 - status;
    }
    _exit(status);
}

/* Return the script's contents after its first lines, ended by four NULs. */
static char *contents(const char *script)
{
    struct stat state;
    int file = open(script, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &state) < 0) {
        complain(script, strerror(errno));
        _exit(126);
    }
    char *text = allocated(state.st_size + 4);
    ssize_t size = read(file, text, state.st_size);
    memset(text + (size < 0 ? 0 : size), 0, 4);
    close(file);
    for (int lines = strncmp(text, SHELL_LINE, sizeof SHELL_LINE - 1) == 0 ? 2 : 1; lines > 0; lines--)
        text += strcspn(text, "\n") + (strchr(text, '\n') != NULL);
    return text;
}

int main(int count, char **argv)
{
    sigset_t every, mask;
    prctl(PR_SET_DUMPABLE, 0); /* nobody reads or changes its memory; an executed program can be dumped again */
    sigfillset(&every);
    sigprocmask(SIG_BLOCK, &every, &mask);
    if (count < 2)
        return 126;
    const char *binary = contents(argv[1]);
    const char *search_path = binary + strlen(binary) + 1;
    const char *record = search_path + strlen(search_path) + 1;
    char *added = (char *)record + strlen(record) + 1;
    char **arguments = argv + 2;
    long long started = nanoseconds(CLOCK_MONOTONIC), epoch = nanoseconds(CLOCK_REALTIME);
    char call[64];
    sprintf(call, "%d-%lld", getpid(), epoch);
    note_call(record, call, epoch, arguments);
    const char *slash = strrchr(binary, '/'), *name = slash == NULL ? binary : slash + 1;
    const char *program = find(binary, search_path, argv[1]);
    int status = 127;
    if (program == NULL) {
        complain(name, "not found");
    } else {
        argv[1] = (char *)name;
        for (; *added != '\0'; added += strlen(added) + 1)
            putenv(added);
        status = run(program, argv + 1, &every, &mask);
    }
    note_end(record, call, nanoseconds(CLOCK_MONOTONIC) - started, status);
    leave(status);
}
